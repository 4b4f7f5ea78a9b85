// Attributes of Chakra nodes, in the thirty kinds that the format has, and the bytes they are in
// it.
//
// A node keeps its attributes as the bytes that a file holds, and decodes one when it is asked for:
// simulating looks at four or five of them, of millions of nodes. In these bytes the name comes
// first and the value last; what a file holds otherwise is written anew.
//
// Source: schema et_def.proto of mlcommons/chakra (message AttributeProto).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/chakra/wire.h"

namespace orrery {

// How a value is stored: kind k is field 2k + 1, and 2k + 2 as a list.
enum class ChakraKind : std::uint8_t {
  none,
  double_kind,
  float_kind,
  int32,
  int64,
  uint32,
  uint64,
  sint32,
  sint64,
  fixed32,
  fixed64,
  sfixed32,
  sfixed64,
  boolean,
  string,
  bytes
};

struct ChakraAttribute {
  std::string name;
  ChakraKind kind = ChakraKind::none;
  std::uint64_t bits = 0;  // a number, as a file holds it
  std::string bytes = {};  // a text; a list: numbers packed, texts as fields of number 1
  bool is_list = false;
  std::string documentation = {};

  bool operator==(const ChakraAttribute&) const = default;
  // Whether it is one text.
  [[nodiscard]] bool is_text() const;
};

ChakraAttribute chakra_boolean(std::string_view name, bool value);
ChakraAttribute chakra_int32(std::string_view name, std::int32_t value);
ChakraAttribute chakra_int64(std::string_view name, std::int64_t value);
ChakraAttribute chakra_uint64(std::string_view name, std::uint64_t value);
ChakraAttribute chakra_text(std::string_view name, std::string_view value);

// Nothing if the bytes are not a message.
std::optional<ChakraAttribute> attribute_of(std::string_view message);
// Bytes of texts that are not valid UTF-8 are written as '?'.
void append_attribute(const ChakraAttribute& attribute, std::string& message);

class ChakraAttributes {
 public:
  ChakraAttributes() = default;
  ChakraAttributes(std::initializer_list<ChakraAttribute> attributes) {
    for (const ChakraAttribute& attribute : attributes) push_back(attribute);
  }
  bool operator==(const ChakraAttributes&) const = default;

  void push_back(const ChakraAttribute& attribute);
  // Whether the bytes are a message; they are added if so. `more`: bytes that will follow it.
  bool push_back_message(std::string_view message, std::size_t more);

  [[nodiscard]] std::vector<ChakraAttribute> decoded() const;
  // The message of the first attribute of that name; and the field that holds its value, of number
  // 0 if it has none.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] std::optional<WireField> value(std::string_view name) const;

 private:
  std::string messages_;  // one after another, each behind its size
};

// Of a field that value() found: an integer or boolean of any kind, and a text.
std::optional<std::int64_t> integer_of(const WireField& value);
std::optional<std::string_view> text_of(const WireField& value);

}  // namespace orrery
