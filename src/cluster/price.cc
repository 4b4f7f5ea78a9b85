#include "cluster/price.h"

#include "catalog/entry.h"

namespace orrery {

Fields<Price> fields_of(const Price*) {
  return Fields<Price>("price")
      .required<&Price::name>("identifier")
      .required<&Price::provider>("who offered it")
      .required<&Price::accelerator>("name in the catalog's accelerators")
      .optional<&Price::accelerators>("in the unit that was offered")
      .required<&Price::price>("of one accelerator")
      .optional<&Price::pricing>("on-demand, spot, median, ...")
      .optional<&Price::date>("of the observation")
      .required<&Price::provenance>("where the figure comes from");
}

Result<void> check(const Price& price) {
  if (!(price.price.value() > 0) || price.accelerators < 1) {
    return bad_input("price '" + price.name + "' is not above zero");
  }
  return {};
}

Result<Price> load_price(const Catalog& catalog, std::string_view name) {
  return load_entry<Price>(catalog, "prices", name);
}

}  // namespace orrery
