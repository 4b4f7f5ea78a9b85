#include "report/drawing/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "report/drawing/category_style.h"
#include "report/drawing/pass_style.h"

namespace orrery {

extern const char* const kPageStyle;   // page.css
extern const char* const kPageScript;  // page.js

namespace {

// "--bubble:#a3acb5;"
std::string variables(std::string_view Swatch::* colour) {
  std::string out;
  for (const auto& [name, swatch] : page_colours()) {
    out += fmt::format("--{}:{};", name, swatch.*colour);
  }
  return out;
}

// Fillings and lines in these colours.
std::string classes() {
  std::vector<std::string_view> names = {"accent", "good", "bad", "soft", "ink"};
  for (const auto& [name, swatch] : page_colours()) names.push_back(name);
  std::string out;
  for (const std::string_view name : names) {
    out += fmt::format(".c-{0}{{fill:var(--{0})}}.o-{0}{{stroke:var(--{0})}}", name);
  }
  return out;
}

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}:root{{{}}}\n{}\n"
      "@media (prefers-color-scheme:dark){{:root{{{}}}\n{}}}\n{}</style>\n</head>\n<body>\n"
      "<main>\n{}</main>\n<script>\n{}</script>\n</body>\n</html>\n",
      html_text(title), kPageStyle, variables(&Swatch::light) + pass_variables(Page::light),
      pass_rules(Page::light), variables(&Swatch::dark) + pass_variables(Page::dark),
      pass_rules(Page::dark), classes(), body, kPageScript);
}

std::string html_text(std::string_view text) {
  static constexpr std::array<std::pair<char, std::string_view>, 5> kEscaped = {
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};
  std::string out;
  for (const char c : printable(text)) {
    const auto escaped = std::ranges::find(kEscaped, c, &std::pair<char, std::string_view>::first);
    out += escaped == kEscaped.end() ? std::string_view(&c, 1) : escaped->second;
  }
  return out;
}

std::string html_headline(std::string_view what, std::string_view title, std::string_view beside) {
  return fmt::format(
      "<header>\n<div class=\"eyebrow\">Orrery · {}</div>\n<h1>{} "
      "<span>{}</span></h1>\n</header>\n",
      html_text(what), html_text(title), html_text(beside));
}

std::string html_tile_with(std::string_view name, std::string_view value, std::string_view markup) {
  const std::size_t space = std::min(value.find(' '), value.size());
  const std::string_view unit = space < value.size() ? value.substr(space + 1) : "";
  return fmt::format(
      "<div class=\"tile\"><div class=\"name\">{}</div><div "
      "class=\"value\">{}<small>{}</small></div>{}</div>\n",
      html_text(name), html_text(value.substr(0, space)), html_text(unit), markup);
}

std::string html_tile(std::string_view name, std::string_view value, std::string_view more) {
  return html_tile_with(name, value, fmt::format("<div class=\"more\">{}</div>", html_text(more)));
}

namespace {

// The fragment of an address that names a section.
std::string anchor(std::string_view title) {
  std::string out;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return out;
}

}  // namespace

std::string html_section(std::string_view title, std::string_view remark, std::string_view body) {
  return fmt::format(
      "<section id=\"{}\">\n<h2>{}</h2>\n<div class=\"remark\">{}</div>\n{}\n</section>\n",
      anchor(title), html_text(title), html_text(remark), body);
}

std::string html_section(std::string_view title, std::string_view remark, const Table& table) {
  return table.empty() ? "" : html_section(title, remark, table.html());
}

std::string html_assumed(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string items;
  for (const std::string& one : sentences) items += "<li>" + html_text(one) + "</li>\n";
  return html_section("Assumed", "defaults that were filled in where nothing was said",
                      "<ul class=\"assumed\">\n" + items + "</ul>");
}

std::string html_link(std::string_view title, std::string_view page) {
  const std::string name = anchor(title);
  if (page.find(fmt::format("<section id=\"{}\">", name)) == std::string_view::npos) return "";
  return fmt::format(" <a href=\"#{}\">{}</a>", name, html_text(title));
}

std::string html_legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "<div class=\"legend\">";
  for (const auto& [label, colour] : entries) {
    out += fmt::format("<span style=\"--swatch:var(--{})\">{}</span>", colour, html_text(label));
  }
  return out + "</div>\n";
}

std::string html_legend(const std::vector<std::pair<std::string, Category>>& entries) {
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& [label, colour] : entries) named.emplace_back(label, to_text(colour));
  return html_legend(named);
}

std::string html_halves(std::string_view left, std::string_view right) {
  return fmt::format(
      "<div class=\"columns\"><div class=\"half\">{}</div><div class=\"half\">{}</div></div>\n",
      left, right);
}

}  // namespace orrery
