#include "cluster/price.h"

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

Result<Price> load_price(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("prices", name));
  ORRERY_TRY(Price price, read<Price>(document));
  if (!(price.price.value() > 0) || price.accelerators < 1) {
    return bad_input("price '" + price.name + "' is not above zero", document.name);
  }
  return price;
}

}  // namespace orrery
