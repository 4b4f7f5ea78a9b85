// An attribute of a node between our form and protobuf's: one case for each of the thirty kinds.
// Only for the .cc files of this folder, as it names generated messages.
#pragma once

#include <chakra_messages.pb.h>

#include "trace/chakra/chakra_trace.h"

namespace orrery {

ChakraAttribute attribute_of(const chakra_messages::Attribute& message);
void set_message(const ChakraAttribute& a, chakra_messages::Attribute& message);

}  // namespace orrery
