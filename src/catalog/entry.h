// An entry of the catalog as a value.
#pragma once

#include <string_view>

#include "catalog/catalog.h"
#include "document/fields.h"

namespace orrery {

// Errors: no such entry; those of its fields, and of check(value) where the header of T declares
// that. A check in an anonymous namespace is not found here, and silently not called.
template <Described T>
Result<T> load_entry(const Catalog& catalog, std::string_view kind, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find(kind, name));
  ORRERY_TRY(T out, read<T>(document));
  if constexpr (requires { check(out); }) {
    ORRERY_RETURN_IF_ERROR(at(document.name, check(out)));
  }
  return out;
}

}  // namespace orrery
