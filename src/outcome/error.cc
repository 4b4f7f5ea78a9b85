#include "outcome/error.h"

#include <utility>

namespace orrery {

std::string Error::text() const {
  std::string out;
  if (!where.empty()) out += where + ": ";
  out += message;
  if (!hint.empty()) out += " (" + hint + ")";
  // Control characters quoted from the input must not break the line or move the cursor.
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return out;
}

Error at(std::string place, Error error) {
  error.where = error.where.empty() ? std::move(place) : place + ": " + error.where;
  return error;
}

}  // namespace orrery
