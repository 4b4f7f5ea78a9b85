#include "trace/chakra/chakra_attribute.h"

#include <algorithm>
#include <limits>

#include "trace/chakra/readable_text.h"

namespace orrery {
namespace {

constexpr std::uint32_t kAttributeName = 1;
constexpr std::uint32_t kDocumentation = 2;
constexpr std::uint32_t kLastField = 2 * static_cast<std::uint32_t>(ChakraKind::bytes) + 2;

std::uint32_t field_of(ChakraKind kind) { return 2 * static_cast<std::uint32_t>(kind) + 1; }
ChakraKind kind_of_field(std::uint32_t field) { return static_cast<ChakraKind>((field - 1) / 2); }
bool is_list(std::uint32_t field) { return field % 2 == 0; }

WireType wire_type(ChakraKind kind) {
  switch (kind) {
    case ChakraKind::double_kind:
    case ChakraKind::fixed64:
    case ChakraKind::sfixed64:
      return WireType::eight_bytes;
    case ChakraKind::float_kind:
    case ChakraKind::fixed32:
    case ChakraKind::sfixed32:
      return WireType::four_bytes;
    case ChakraKind::string:
    case ChakraKind::bytes:
      return WireType::counted;
    default:
      return WireType::varint;
  }
}

// As numbers of these kinds are written, whatever bits beyond theirs they were read with.
std::uint64_t canonical(ChakraKind kind, std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  switch (kind) {
    case ChakraKind::int32:  // with its sign, as int64
      return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
    case ChakraKind::uint32:
    case ChakraKind::sint32:
      return low;
    case ChakraKind::boolean:
      return bits != 0 ? 1 : 0;
    default:
      return bits;
  }
}

// Adds what a list message holds, whether packed or one by one. Whether it is a message.
bool read_list(ChakraKind kind, std::string_view message, std::string& list) {
  const WireType type = wire_type(kind);
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.number != 1) continue;
    if (field.type == type && type == WireType::counted) {
      append_bytes(1, field.bytes, list);
    } else if (field.type == type) {
      append_bits(type, canonical(kind, field.bits), list);
    } else if (field.type == WireType::counted) {
      WireReader packed(field.bytes);
      for (std::uint64_t bits = 0; packed.next(type, bits);) {
        append_bits(type, canonical(kind, bits), list);
      }
      if (!packed.is_message()) return false;
    }
  }
  return reader.is_message();
}

// Whether a message is a name and then one value that is no list, as nearly all are.
bool is_plain(std::string_view message) {
  WireReader reader(message);
  WireField name;
  WireField value;
  return reader.next(name) && name.number == kAttributeName && name.type == WireType::counted &&
         reader.next(value) && value.number > kDocumentation && value.number <= kLastField &&
         !is_list(value.number) && value.type == wire_type(kind_of_field(value.number)) &&
         reader.left() == 0;
}

}  // namespace

bool ChakraAttribute::is_text() const {
  return !is_list && (kind == ChakraKind::string || kind == ChakraKind::bytes);
}

ChakraAttribute chakra_boolean(std::string_view name, bool value) {
  return {std::string(name), ChakraKind::boolean, value ? 1U : 0U};
}

ChakraAttribute chakra_int32(std::string_view name, std::int32_t value) {
  return {std::string(name), ChakraKind::int32, static_cast<std::uint64_t>(std::int64_t{value})};
}

ChakraAttribute chakra_int64(std::string_view name, std::int64_t value) {
  return {std::string(name), ChakraKind::int64, static_cast<std::uint64_t>(value)};
}

ChakraAttribute chakra_uint64(std::string_view name, std::uint64_t value) {
  return {std::string(name), ChakraKind::uint64, value};
}

ChakraAttribute chakra_text(std::string_view name, std::string_view value) {
  return {std::string(name), ChakraKind::string, 0, std::string(value)};
}

std::optional<ChakraAttribute> attribute_of(std::string_view message) {
  ChakraAttribute out;
  std::uint32_t last = 0;  // the last value counts; a list goes on where its field comes again
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    const bool counted = field.type == WireType::counted;
    if (field.number == kAttributeName && counted) out.name = field.bytes;
    if (field.number == kDocumentation && counted) out.documentation = field.bytes;
    if (field.number <= kDocumentation || field.number > kLastField) continue;
    const ChakraKind kind = kind_of_field(field.number);
    if (field.type != (is_list(field.number) ? WireType::counted : wire_type(kind))) continue;
    out.kind = kind;
    out.is_list = is_list(field.number);
    if (!out.is_list) {
      out.bits = counted ? 0 : canonical(kind, field.bits);
      out.bytes = counted ? field.bytes : std::string_view();
    } else {
      if (last != field.number) out.bytes.clear();
      if (!read_list(kind, field.bytes, out.bytes)) return std::nullopt;
    }
    last = field.number;
  }
  if (!reader.is_message()) return std::nullopt;
  return out;
}

void append_attribute(const ChakraAttribute& attribute, std::string& message) {
  const ChakraKind kind = attribute.kind;
  const WireType type = wire_type(kind);
  const auto text = [&](std::string_view t) {
    return kind == ChakraKind::string ? readable_text(t) : std::string(t);
  };
  if (!attribute.name.empty()) append_bytes(kAttributeName, readable_text(attribute.name), message);
  if (!attribute.documentation.empty()) {
    append_bytes(kDocumentation, readable_text(attribute.documentation), message);
  }
  if (attribute.is_list) {
    std::string list;
    const std::string_view bytes = attribute.bytes;
    WireReader texts(type == WireType::counted ? bytes : "");
    for (WireField one; texts.next(one);) append_bytes(1, text(one.bytes), list);
    if (type != WireType::counted && !attribute.bytes.empty()) {
      append_bytes(1, attribute.bytes, list);
    }
    append_bytes(field_of(kind) + 1, list, message);
  } else if (type == WireType::counted) {
    append_bytes(field_of(kind), text(attribute.bytes), message);
  } else if (kind != ChakraKind::none) {
    append_number(field_of(kind), type, attribute.bits, message);
  }
}

void ChakraAttributes::push_back(const ChakraAttribute& attribute) {
  std::string message;
  append_attribute(attribute, message);
  append_bytes(1, message, messages_);
}

bool ChakraAttributes::push_back_message(std::string_view message, std::size_t more) {
  if (!is_plain(message)) {
    const auto attribute = attribute_of(message);
    if (attribute) push_back(*attribute);
    return attribute.has_value();
  }
  if (messages_.empty()) messages_.reserve(message.size() + 3 + more);
  append_bytes(1, message, messages_);
  return true;
}

std::vector<ChakraAttribute> ChakraAttributes::decoded() const {
  std::vector<ChakraAttribute> out;
  WireReader reader(messages_);
  for (WireField one; reader.next(one);) out.push_back(*attribute_of(one.bytes));
  return out;
}

std::optional<std::string_view> ChakraAttributes::find(std::string_view name) const {
  WireReader reader(messages_);
  for (WireField one; reader.next(one);) {
    WireField first;
    WireReader(one.bytes).next(first);
    if ((first.number == kAttributeName ? first.bytes : std::string_view()) == name)
      return one.bytes;
  }
  return std::nullopt;
}

std::optional<WireField> ChakraAttributes::value(std::string_view name) const {
  const auto message = find(name);
  if (!message) return std::nullopt;
  WireField last;
  for (WireReader reader(*message); reader.next(last);) {
  }
  return last.number > kDocumentation ? last : WireField();
}

std::optional<std::int64_t> integer_of(const WireField& value) {
  if (value.number == 0 || is_list(value.number)) return std::nullopt;
  const std::uint64_t bits = canonical(kind_of_field(value.number), value.bits);
  const auto low = static_cast<std::uint32_t>(bits);
  switch (kind_of_field(value.number)) {
    case ChakraKind::int32:
    case ChakraKind::sfixed32:
      return static_cast<std::int32_t>(low);
    case ChakraKind::int64:
    case ChakraKind::sfixed64:
      return static_cast<std::int64_t>(bits);
    case ChakraKind::sint32:
    case ChakraKind::sint64:
      return static_cast<std::int64_t>((bits >> 1U) ^ (0 - (bits & 1U)));
    case ChakraKind::uint32:
    case ChakraKind::fixed32:
    case ChakraKind::uint64:
    case ChakraKind::fixed64:
    case ChakraKind::boolean: {
      constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
      return static_cast<std::int64_t>(std::min(bits, kMost));
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string_view> text_of(const WireField& value) {
  const bool is_text =
      value.number != 0 && !is_list(value.number) && value.type == WireType::counted;
  return is_text ? std::optional(value.bytes) : std::nullopt;
}

}  // namespace orrery
