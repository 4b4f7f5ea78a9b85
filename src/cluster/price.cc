#include "cluster/price.h"

namespace orrery {

const Fields<Price>& fields_of(const Price*) {
  static const Fields<Price> table =
      Fields<Price>("price")
          .required("name", &Price::name, "identifier")
          .required("provider", &Price::provider, "who offered it")
          .required("accelerator", &Price::accelerator, "name in the catalog's accelerators")
          .optional("accelerators", &Price::accelerators, "in the unit that was offered")
          .required("price", &Price::price, "of one accelerator")
          .optional("pricing", &Price::pricing, "on-demand, spot, median, ...")
          .optional("date", &Price::date, "of the observation")
          .required("provenance", &Price::provenance, "where the figure comes from");
  return table;
}

Result<Price> load_price(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("prices", name));
  ORRERY_TRY(Price price, read<Price>(document));
  if (!(price.price.value() > 0) || price.accelerators < 1) {
    return fail(ErrorCode::bad_input, "price '" + price.name + "' is not above zero",
                document.name);
  }
  return price;
}

}  // namespace orrery
