#include "report/drawing/png.h"

#include <cairo.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>
#include <span>
#include <utility>

namespace orrery {
namespace {

// Owners of C objects, each with its own way to go.
struct Release {
  void operator()(RsvgHandle* p) const { g_object_unref(p); }
  void operator()(GError* p) const { g_error_free(p); }
  void operator()(cairo_surface_t* p) const { cairo_surface_destroy(p); }
  void operator()(cairo_t* p) const { cairo_destroy(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

Failure no_drawing(GError* error, std::string what) {
  const Owned<GError> owner(error);
  if (owner) what += std::string(": ") + owner->message;
  return bad_input(std::move(what), "", "a whole <svg> element with its namespace");
}

cairo_status_t append(void* text, const unsigned char* bytes, unsigned int count) {
  const std::span<const unsigned char> all(bytes, count);
  static_cast<std::string*>(text)->append(all.begin(), all.end());
  return CAIRO_STATUS_SUCCESS;
}

// Width and height in any one unit: only their ratio is used.
bool proportions(RsvgHandle* drawing, double& width, double& height) {
  if (rsvg_handle_get_intrinsic_size_in_pixels(drawing, &width, &height) != 0) return true;
  gboolean has_width = 0;
  gboolean has_height = 0;
  gboolean has_box = 0;
  RsvgLength ignored_width;
  RsvgLength ignored_height;
  RsvgRectangle box;
  rsvg_handle_get_intrinsic_dimensions(drawing, &has_width, &ignored_width, &has_height,
                                       &ignored_height, &has_box, &box);
  width = box.width;
  height = box.height;
  return has_box != 0;
}

}  // namespace

Result<std::string> png_of_svg(std::string_view svg, int width_pixels) {
  if (width_pixels < 1 || width_pixels > kWidestPng) {
    return bad_input("a picture " + std::to_string(width_pixels) + " pixels wide", "",
                     "1 to " + std::to_string(kWidestPng));
  }
  GError* error = nullptr;
  const std::span<const char> text(svg);
  const auto* bytes = reinterpret_cast<const guint8*>(text.data());
  const Owned<RsvgHandle> drawing(rsvg_handle_new_from_data(bytes, text.size(), &error));
  if (!drawing) return no_drawing(error, "no SVG");
  double width = 0;
  double height = 0;
  if (!proportions(drawing.get(), width, height) || !(width > 0 && height > 0)) {
    return bad_input("the SVG states no size", "", "give it a viewBox");
  }
  const double rows = std::max(1.0, std::round(width_pixels * height / width));
  if (!(rows <= kWidestPng)) {
    return bad_input("the picture would be too high", "",
                     "at most " + std::to_string(kWidestPng) + " pixels");
  }
  const Owned<cairo_surface_t> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width_pixels, static_cast<int>(rows)));
  const Owned<cairo_t> canvas(cairo_create(surface.get()));
  cairo_set_source_rgb(canvas.get(), 1, 1, 1);
  cairo_paint(canvas.get());
  const RsvgRectangle viewport{0, 0, static_cast<double>(width_pixels), rows};
  if (rsvg_handle_render_document(drawing.get(), canvas.get(), &viewport, &error) == 0) {
    return no_drawing(error, "the SVG cannot be drawn");
  }
  std::string out;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &out);
  if (status != CAIRO_STATUS_SUCCESS) {
    return fail(ErrorCode::io, std::string("no PNG: ") + cairo_status_to_string(status));
  }
  return out;
}

}  // namespace orrery
