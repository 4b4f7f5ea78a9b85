#include "outcome/error.h"

#include <utility>

#include "outcome/printable.h"

namespace orrery {

std::string Error::text() const {
  std::string out;
  if (!where.empty()) out += where + ": ";
  out += message;
  if (!hint.empty()) out += " (" + hint + ")";
  return printable(out);
}

Error at(std::string place, Error error) {
  error.where = error.where.empty() ? std::move(place) : place + ": " + error.where;
  return error;
}

}  // namespace orrery
