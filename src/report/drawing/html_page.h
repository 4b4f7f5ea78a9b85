// The frame of a self-contained HTML page: style, colours of both schemes, tooltips. Nothing is
// loaded from anywhere.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

// A whole document around `body`, which is markup already.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace orrery
