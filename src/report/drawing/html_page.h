// A self-contained HTML page: its frame (style, colours of both schemes, tooltips) and the pieces
// of markup of its sections. Nothing is loaded from anywhere, and what came from outside can never
// become markup.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lower/step_category.h"
#include "report/drawing/table.h"

namespace orrery {

// A whole document around `body`, which is markup already.
std::string html_page(std::string_view title, std::string_view body);

// & < > " ' are escaped and control characters replaced; fit for element content and for quoted
// attributes.
std::string html_text(std::string_view text);

// The head of a page: what it is, its title and what stands beside that. All are text.
std::string html_headline(std::string_view what, std::string_view title, std::string_view beside);

// One figure of many at the head of a page: "Step time", "8.00 s", and a line below. `more` is
// text.
std::string html_tile(std::string_view name, std::string_view value, std::string_view more);
std::string html_tile_with(std::string_view name, std::string_view value, std::string_view markup);

// A card with a title; `remark` below it may be empty. `body` is markup.
std::string html_section(std::string_view title, std::string_view remark, std::string_view body);

// A card with a table; empty if the table has no rows.
std::string html_section(std::string_view title, std::string_view remark, const Table& table);
// The section of what was filled in where nothing was said; nothing of nothing.
std::string html_assumed(const std::vector<std::string>& sentences);

// A link to the section with that title, where `page` has one.
std::string html_link(std::string_view title, std::string_view page);

// The legend of every chart: names, and the variables of the page's style that hold their colours.
std::string html_legend(const std::vector<std::pair<std::string, std::string>>& entries);
std::string html_legend(const std::vector<std::pair<std::string, Category>>& entries);

// Two halves of a section, side by side where there is room. Both are markup.
std::string html_halves(std::string_view left, std::string_view right);

}  // namespace orrery
