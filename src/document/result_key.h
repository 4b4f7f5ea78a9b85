// One key of a result, without the work of writing the others.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "document/results.h"

namespace orrery {

// The value of the key of that name; none if the row leaves it out or the table has none. Keys of
// tables that are written in place of a key of this one are not among them.
std::optional<Value> value_of_key(std::span<const ResultField> fields, std::string_view key,
                                  const void* row, const void* context = nullptr);

template <Tabled T>
std::optional<Value> answer_key(const T& row, std::string_view key) {
  static_assert(std::is_void_v<typename ResultCodec<T>::Context>, "this table needs its context");
  return value_of_key(kResults<T>.fields, key, &row);
}

}  // namespace orrery
