#include "document/value_list.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::string_view kDigits = "0123456789.";
constexpr double kMostOfRange = 1e12;  // whole numbers up to it are written without an exponent

std::vector<std::string_view> members_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t comma = text.find(',');
    out.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

// "h100-sxm:64" is 64 after "h100-sxm:"; "4k" is 4 before "k".
struct Bound {
  std::string_view before;
  double number = 0;
  std::string_view unit;
};
std::optional<Bound> bound_of(std::string_view text) {
  const std::size_t last = text.find_last_of(kDigits);
  if (last == std::string_view::npos) return std::nullopt;
  const std::size_t other = text.substr(0, last + 1).find_last_not_of(kDigits);
  const std::size_t first = other == std::string_view::npos ? 0 : other + 1;
  const auto number = parsed_number<double>(text.substr(first, last + 1 - first));
  if (!number || !(*number >= 0 && *number <= kMostOfRange)) return std::nullopt;
  return Bound{text.substr(0, first), *number, text.substr(last + 1)};
}

// A range, or the member as it is. Two points that no number follows belong to a path.
Result<std::vector<std::string>> values_of(std::string_view member) {
  const std::string all(member);
  const std::size_t points = member.find("..");
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (points == std::string_view::npos || points == 0 || points + 2 == member.size() ||
      member[points - 1] == '/' || !is_digit(member[points + 2])) {
    return std::vector<std::string>{all};
  }
  const std::string_view rest = member.substr(points + 2);
  const std::size_t sign = rest.find_first_of("*+");
  if (sign == std::string_view::npos) {
    return bad_input("the range '" + all + "' has no step", "",
                     "write " + all + "*2 to double, or " + all + "+8 to add");
  }
  const auto from = bound_of(member.substr(0, points));
  const auto to = bound_of(rest.substr(0, sign));
  std::string_view step_text = rest.substr(sign + 1);
  if (from && rest[sign] == '+' && step_text.ends_with(from->unit)) {
    step_text.remove_suffix(from->unit.size());
  }
  const auto step = parsed_number<double>(step_text);
  if (!from || !to || !to->before.empty() || !step) {
    return bad_input("'" + all + "' is not a range of numbers", "", "write 128..1024*2 or 8..32+8");
  }
  if (from->unit != to->unit) {
    return bad_input("the ends of the range '" + all + "' have different units", "",
                     "write 4k..32k*2");
  }
  const bool doubles = rest[sign] == '*';
  if (to->number < from->number || !(*step > (doubles ? 1 : 0)) || (doubles && from->number == 0)) {
    return bad_input(
        "the range '" + all + "' does not grow", "",
        "write a second end above the first, and a factor above 1 or a step above 0; 0 "
        "cannot be doubled");
  }
  std::vector<std::string> out;
  const double end = to->number * (1 + 1e-9);
  double value = from->number;
  for (std::size_t i = 1; value <= end; ++i) {
    if (i > kMostValues) {
      return bad_input(fmt::format("the range '{}' has more than {} values", all, kMostValues), "",
                       "write a larger step");
    }
    out.push_back(fmt::format("{}{:.12g}{}", from->before, value, from->unit));
    value = doubles ? value * *step : from->number + static_cast<double>(i) * *step;
  }
  return out;
}

Result<void> check_size(std::string_view text, std::size_t values) {
  if (text.size() > kMostOfValueList) {
    return bad_input(fmt::format("a list of more than {} characters", kMostOfValueList));
  }
  if (values > kMostValues) {
    return bad_input(fmt::format("more than {} values", kMostValues), "", "write a larger step");
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> value_list(std::string_view text) {
  ORRERY_RETURN_IF_ERROR(check_size(text, 0));
  std::vector<std::string> out;
  for (const std::string_view member : members_of(text)) {
    if (member.empty()) {
      return bad_input("the list '" + std::string(text) + "' has an empty member");
    }
    ORRERY_TRY(std::vector<std::string> values, values_of(member));
    ORRERY_RETURN_IF_ERROR(check_size(text, out.size() + values.size()));
    std::ranges::move(values, std::back_inserter(out));
  }
  return out;
}

Result<std::vector<std::string>> setting_lists(std::string_view text) {
  ORRERY_RETURN_IF_ERROR(check_size(text, 0));
  std::vector<std::string> out = {""};
  for (const std::string_view member : members_of(text)) {
    ORRERY_TRY(const std::vector<std::string> values, values_of(member));
    ORRERY_RETURN_IF_ERROR(check_size(text, out.size() * values.size()));
    std::vector<std::string> longer;
    for (const std::string& before : out) {
      for (const std::string& value : values) {
        longer.push_back(before.empty() ? value : before + "," + value);
      }
    }
    out = std::move(longer);
  }
  return out;
}

}  // namespace orrery
