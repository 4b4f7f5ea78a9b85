#include "document/provenance.h"

namespace orrery {

Fields<Provenance> fields_of(const Provenance*) {
  return Fields<Provenance>("provenance")
      .required<&Provenance::source>("where the figures were read")
      .optional<&Provenance::verified>("true if they were read in that source")
      .optional<&Provenance::unverified>(
          "fields from memory or derivation although the entry is verified")
      .optional<&Provenance::notes>("what a reader should know");
}

}  // namespace orrery
