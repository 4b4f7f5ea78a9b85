#include "validate/generation_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "calibrate/statistics.h"
#include "estimate/generation.h"
#include "estimate/spec.h"
#include "model/diffusion/diffusion.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::string_view kGenerationColumns[] = {
    "source",   "model", "accelerator", "gpus",      "images", "resolution", "frames",      "steps",
    "guidance", "plan",  "software",    "precision", "of",     "measured_s", "not_modelled"};

class RowReader {
 public:
  RowReader(const CommaSeparated& table, const CommaSeparated::Record& record)
      : table_(table), record_(record) {}

  [[nodiscard]] const std::string& text(std::string_view column) const {
    const auto at = std::ranges::find(table_.columns, column) - table_.columns.begin();
    return record_.fields[static_cast<std::size_t>(at)];
  }
  [[nodiscard]] Result<std::int64_t> count(std::string_view column) const {
    const auto number = parsed_number<std::int64_t>(text(column));
    if (number && *number >= 1) return *number;
    return bad_input("'" + text(column) + "' is not a whole number above 0", std::string(column));
  }
  // Whether the first word stands there. Errors: neither does.
  [[nodiscard]] Result<bool> one_of(std::string_view column, std::string_view yes,
                                    std::string_view no) const {
    if (text(column) == yes) return true;
    if (text(column) == no) return false;
    return bad_input(
        "'" + text(column) + "' is neither " + std::string(yes) + " nor " + std::string(no),
        std::string(column));
  }
  [[nodiscard]] Result<double> seconds() const {
    const auto number = parsed_number<double>(text("measured_s"));
    if (number && *number > 0 && std::isfinite(*number)) return *number;
    return bad_input("'" + text("measured_s") + "' is not a time above 0", "measured_s");
  }

  [[nodiscard]] Result<Seconds> predict(const Catalog& catalog) const {
    Spec spec;
    ORRERY_TRY(const Model model, load_model(text("model"), catalog));
    ORRERY_TRY(const ImageSize size, image_size());
    ORRERY_TRY(spec.scenario.model, with_image(model, size));
    ORRERY_TRY(spec.scenario.cluster,
               parse_cluster(text("accelerator") + ":" + text("gpus"), catalog));
    ORRERY_TRY(spec.scenario.plan, parse_plan(text("plan")));
    spec.stated = stated_fields(text("plan"));
    ORRERY_TRY(spec.scenario.training.precision, parse_enum<NumberFormat>(text("precision")));
    ORRERY_TRY(SoftwareProfile software, load_software(catalog, text("software")));
    choose_software(spec, std::move(software));
    GenerationQuestion question;
    ORRERY_TRY(question.images, count("images"));
    ORRERY_TRY(question.steps, count("steps"));
    ORRERY_TRY(question.guidance, one_of("guidance", "on", "off"));
    ORRERY_TRY(const bool of_step, one_of("of", "step", "image"));
    question.micro_batch_stated =
        std::ranges::find(spec.stated, "micro_batch") != spec.stated.end();
    ORRERY_TRY(const Generation made, generation(spec.scenario, question, catalog));
    if (!of_step) return made.time;
    Seconds step;
    for (const GenerationPart& part : made.parts) {
      if (part.role == "denoiser" || part.role == "control network") step += part.once;
    }
    return step;
  }

  [[nodiscard]] std::string in_words() const {
    std::string out = fmt::format("{} {}", text("model"), text("resolution"));
    if (text("frames") != "1") out += " x " + text("frames") + " frames";
    if (text("images") != "1") out += ", " + text("images") + " images";
    out += fmt::format(" on {}:{}", text("accelerator"), text("gpus"));
    return out + ", " + text("software");
  }
  [[nodiscard]] std::string where() const {
    return table_.name + ":" + std::to_string(record_.line);
  }

 private:
  [[nodiscard]] Result<ImageSize> image_size() const {
    const std::string& both = text("resolution");
    const std::size_t x = both.find('x');
    const auto width = parsed_number<std::int64_t>(std::string_view(both).substr(0, x));
    const auto height = parsed_number<std::int64_t>(
        x == std::string::npos ? std::string_view() : std::string_view(both).substr(x + 1));
    if (!width || !height) return bad_input("'" + both + "' is no size of an image", "resolution");
    ImageSize out{*height, *width, 1};
    ORRERY_TRY(out.frames, count("frames"));
    return out;
  }

  const CommaSeparated& table_;
  const CommaSeparated::Record& record_;
};

}  // namespace

Result<GenerationErrors> generation_errors(const std::vector<CommaSeparated>& tables,
                                           const Catalog& catalog) {
  GenerationErrors out;
  std::vector<double> errors;
  for (const CommaSeparated& table : tables) {
    ORRERY_RETURN_IF_ERROR(table.complete());
    std::string missing;
    for (const std::string_view column : kGenerationColumns) {
      if (std::ranges::find(table.columns, column) != table.columns.end()) continue;
      missing += (missing.empty() ? "" : ", ") + std::string(column);
    }
    if (!missing.empty()) return bad_input("the columns " + missing + " are missing", table.name);
    for (const CommaSeparated::Record& record : table.records) {
      const RowReader row(table, record);
      ORRERY_TRY(const double seconds, at(row.where(), row.seconds()));
      GenerationRow one{row.where(), row.in_words(),          row.text("plan"), Seconds(seconds),
                        {},          row.text("not_modelled")};
      if (one.left_out.empty()) {
        if (const auto predicted = row.predict(catalog)) {
          one.predicted = *predicted;
          errors.push_back(std::abs(one.error()));
        } else {
          one.left_out = predicted.error().message;
        }
      }
      out.rows.push_back(std::move(one));
    }
  }
  if (errors.empty()) {
    return bad_input(
        "no row can be predicted" +
            (out.rows.empty() ? std::string() : "; the first: " + out.rows[0].left_out),
        tables.empty() ? std::string() : tables.front().name);
  }
  out.predicted = static_cast<std::int64_t>(errors.size());
  out.median = quantile(errors, 0.5);
  out.p90 = quantile(errors, 0.9);
  return out;
}

}  // namespace orrery
