// The files of validation/conventions as they were at build time; written by
// cmake/embed_files.cmake.
#pragma once

#include <span>

#include "catalog/catalog.h"

namespace orrery {

std::span<const CatalogEntry> embedded_conventions();

}  // namespace orrery
