// Does what was printed match a golden text?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::golden {

struct Difference {
  std::size_t expected_line = 0;  // index into the expected lines; their number: "end of output"
  std::size_t printed_line = 0;
};

// An expected line "..." stands for any number of lines. Times that the clock decides and rates
// made of them are equal to each other: see without_clock.
std::optional<Difference> first_difference(const std::vector<std::string>& expected,
                                           const std::vector<std::string>& printed);

// The line with every time that was measured while running replaced by "<clock>": "elapsed 3.1 s",
// "took 12 ms", "\"elapsed_s\": 3.1", "123,456 plans/s". A predicted time is not one of them.
std::string without_clock(const std::string& line);

// Both texts with marks, where they begin to differ.
std::string show_difference(const std::vector<std::string>& expected,
                            const std::vector<std::string>& printed, const Difference& at);

}  // namespace orrery::golden
