#include "document/provenance.h"

namespace orrery {

const Fields<Provenance>& fields_of(const Provenance*) {
  static const Fields<Provenance> table =
      Fields<Provenance>("provenance")
          .required("source", &Provenance::source, "where the figures were read")
          .optional("verified", &Provenance::verified, "true if they were read in that source")
          .optional("unverified", &Provenance::unverified,
                    "fields from memory or derivation although the entry is verified")
          .optional("notes", &Provenance::notes, "what a reader should know");
  return table;
}

}  // namespace orrery
