// Text as HTML: what came from outside can never become markup.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

// & < > " ' are escaped and control characters replaced; fit for element content and for quoted
// attributes.
std::string html_text(std::string_view text);

}  // namespace orrery
