// Tables of measurements for tests: written there, or of validation/kernels.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "document/comma_separated.h"
#include "outcome/result.h"

namespace orrery {

template <class T>
T value_of(Result<T> result) {
  return std::move(result).value();
}

inline CommaSeparated table_of(const std::string& text, std::string name = "rows.csv") {
  return value_of(parse_comma_separated(text, std::move(name)));
}

inline std::string shipped_text(const std::string& name) {
  std::ifstream file(std::string(ORRERY_SOURCE_DIR) + "/validation/kernels/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace orrery
