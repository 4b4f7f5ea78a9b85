#include "document/input_memory.h"

#include "units/quantity_text.h"

namespace orrery {

std::atomic<std::uint64_t>& input_memory() {
  static std::atomic<std::uint64_t> bytes{kDefaultInputMemory};
  return bytes;
}

Result<void> check_input_memory(std::uint64_t held, std::uint64_t read, const std::string& where) {
  const std::uint64_t most = input_memory() + kMemoryPerByte * read;
  if (held <= most) return {};
  return bad_input("would take more than " + to_text(Bytes(static_cast<double>(most))) +
                       " of memory, which is too much for a file of this size",
                   where, more_input_memory());
}

std::uint64_t most_bytes_of_text(std::uint64_t usual) {
  return static_cast<std::uint64_t>(static_cast<double>(usual) / kDefaultInputMemory *
                                    static_cast<double>(input_memory()));
}

std::string more_input_memory() {
  std::string size = to_exact_text(Bytes(4 * static_cast<double>(input_memory())));
  std::erase(size, ' ');  // one word of a command line
  return "if you trust the file, raise the limit with --max-input " + size;
}

}  // namespace orrery
