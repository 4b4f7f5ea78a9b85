#include "cluster/fabric_level.h"

namespace orrery {

const Fields<FabricLevel>& fields_of(const FabricLevel*) {
  static const Fields<FabricLevel> table =
      Fields<FabricLevel>("fabric level")
          .required("name", &FabricLevel::name, "what joins the accelerators here")
          .required("accelerators", &FabricLevel::accelerators, "below one unit of this level")
          .required("bandwidth", &FabricLevel::bandwidth,
                    "of one accelerator, one direction, nominal")
          .required("latency", &FabricLevel::latency, "of one message, device to device")
          .optional("oversubscription", &FabricLevel::oversubscription,
                    "1 = full bisection, 7 = one seventh of the bandwidth")
          .optional("efficiency", &FabricLevel::efficiency,
                    "share of the nominal bandwidth that large transfers reach")
          .optional("in_switch_reduction", &FabricLevel::in_switch_reduction,
                    "the switch adds up the contributions of an all-reduce");
  return table;
}

}  // namespace orrery
