// The words for what operations are made of, in files and on the command line.
#pragma once

#include <span>

#include "document/fields.h"
#include "graph/operation.h"

namespace orrery {

std::span<const EnumName<NodeKind>> names_of(NodeKind);
std::span<const EnumName<CategoryClass>> names_of(CategoryClass);
std::span<const EnumName<CollectiveKind>> names_of(CollectiveKind);
std::span<const EnumName<AttentionKernel>> names_of(AttentionKernel);
std::span<const EnumName<Direction>> names_of(Direction);
std::span<const EnumName<NumberFormat>> names_of(NumberFormat);

}  // namespace orrery
