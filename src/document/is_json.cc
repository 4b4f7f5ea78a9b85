#include "document/is_json.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

namespace orrery {

bool is_json(std::string_view text) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::BaseReaderHandler<> nobody;
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseValidateEncodingFlag;
  return !reader.Parse<kFlags>(stream, nobody).IsError();
}

}  // namespace orrery
