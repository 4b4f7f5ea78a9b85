#include "outcome/error.h"

#include <utility>

namespace orrery {

std::string Error::text() const {
  std::string out;
  if (!where.empty()) out += where + ": ";
  out += message;
  if (!hint.empty()) out += " (" + hint + ")";
  // Whatever was quoted from the input, it stays one line and moves no cursor.
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
