// Result<T>: a value or the Error that prevented it. `return error;` and `return value;` both
// convert. Result<void> has no value: `return {};` says that all went well.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "outcome/error.h"

namespace orrery {

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

inline Failure fail(Error error) { return Failure(std::move(error)); }
inline Failure fail(ErrorCode code, std::string message, std::string where = "",
                    std::string hint = "") {
  return Failure(Error{code, std::move(message), std::move(where), std::move(hint)});
}
inline Failure bad_input(std::string message, std::string where = "", std::string hint = "") {
  return fail(ErrorCode::bad_input, std::move(message), std::move(where), std::move(hint));
}
inline Failure unsupported(std::string message, std::string where = "", std::string hint = "") {
  return fail(ErrorCode::unsupported, std::move(message), std::move(where), std::move(hint));
}

// The same result; an error of it with `place` in front of its own.
template <class T>
Result<T> at(std::string place, Result<T> result) {
  if (!result) return fail(at(std::move(place), std::move(result).error()));
  return result;
}

}  // namespace orrery

// Evaluates to the value of `expression`, or returns its error from the enclosing function.
#define ORRERY_CONCAT_INNER(a, b) a##b
#define ORRERY_CONCAT(a, b) ORRERY_CONCAT_INNER(a, b)
#define ORRERY_TRY_INNER(result, declaration, ...)                   \
  auto result = (__VA_ARGS__);                                       \
  if (!(result)) return ::orrery::fail(std::move((result).error())); \
  declaration = std::move(*(result))
#define ORRERY_TRY(declaration, ...) \
  ORRERY_TRY_INNER(ORRERY_CONCAT(orrery_result_, __LINE__), declaration, __VA_ARGS__)

// Returns the error of `expression`, if it has one, from the enclosing function.
#define ORRERY_RETURN_IF_ERROR(...)                       \
  if (auto orrery_result = (__VA_ARGS__); !orrery_result) \
  return ::orrery::fail(std::move(orrery_result).error())
