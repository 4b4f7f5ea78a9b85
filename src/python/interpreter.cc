#include "python/interpreter.h"

#include <string_view>

#include "document/value.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::string_view kValue = "value ";
constexpr std::string_view kFunctions = "functions ";
constexpr std::string_view kError = "error ";

Failure failure(const std::string& line, const std::string& file) {
  if (line.starts_with(kError)) {
    const auto parts = parse_json(std::string_view(line).substr(kError.size()), "answer");
    if (parts && parts->root.items().size() == 2) {
      const std::string& where = parts->root.items()[1].scalar_text();
      return bad_input(parts->root.items()[0].scalar_text(), where.empty() ? file : where);
    }
  }
  return bad_input("the interpreter does not answer as expected", file);
}

}  // namespace

Result<double> value_of_line(const std::string& line, const std::string& file) {
  if (!line.starts_with(kValue)) return failure(line, file);
  const auto value = parsed_number<double>(std::string_view(line).substr(kValue.size()));
  if (!value) return failure(line, file);
  return *value;
}

Result<std::vector<std::string>> functions_of_line(const std::string& line,
                                                   const std::string& file) {
  if (!line.starts_with(kFunctions)) return failure(line, file);
  ORRERY_TRY(const Document names,
             parse_json(std::string_view(line).substr(kFunctions.size()), file));
  std::vector<std::string> out;
  for (const Value& name : names.root.items()) out.push_back(name.scalar_text());
  return out;
}

}  // namespace orrery
