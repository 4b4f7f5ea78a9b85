#include "trace/chakra/chakra_attribute.h"

#include <utility>

#include "trace/chakra/readable_text.h"

namespace orrery {
namespace {

using Message = chakra_messages::Attribute;

template <class T, class Messages>
std::vector<T> list(const Messages& message) {
  return std::vector<T>(message.values().begin(), message.values().end());
}

}  // namespace

ChakraAttribute attribute_of(const chakra_messages::Attribute& message) {
  ChakraAttribute out;
  out.name = message.name();
  if (!message.documentation().empty()) out.documentation = message.documentation();
  const auto keep = [&](ChakraKind kind, auto value) {
    out.kind = kind;
    out.value = std::move(value);
    return std::move(out);
  };
  switch (message.value_case()) {
    case Message::kDoubleValue:
      return keep(ChakraKind::double_kind, double{message.double_value()});
    case Message::kDoubleList:
      return keep(ChakraKind::double_kind, list<double>(message.double_list()));
    case Message::kFloatValue:
      return keep(ChakraKind::float_kind, double{message.float_value()});
    case Message::kFloatList:
      return keep(ChakraKind::float_kind, list<double>(message.float_list()));
    case Message::kInt32Value:
      return keep(ChakraKind::int32, std::int64_t{message.int32_value()});
    case Message::kInt32List:
      return keep(ChakraKind::int32, list<std::int64_t>(message.int32_list()));
    case Message::kInt64Value:
      return keep(ChakraKind::int64, std::int64_t{message.int64_value()});
    case Message::kInt64List:
      return keep(ChakraKind::int64, list<std::int64_t>(message.int64_list()));
    case Message::kUint32Value:
      return keep(ChakraKind::uint32, std::uint64_t{message.uint32_value()});
    case Message::kUint32List:
      return keep(ChakraKind::uint32, list<std::uint64_t>(message.uint32_list()));
    case Message::kUint64Value:
      return keep(ChakraKind::uint64, std::uint64_t{message.uint64_value()});
    case Message::kUint64List:
      return keep(ChakraKind::uint64, list<std::uint64_t>(message.uint64_list()));
    case Message::kSint32Value:
      return keep(ChakraKind::sint32, std::int64_t{message.sint32_value()});
    case Message::kSint32List:
      return keep(ChakraKind::sint32, list<std::int64_t>(message.sint32_list()));
    case Message::kSint64Value:
      return keep(ChakraKind::sint64, std::int64_t{message.sint64_value()});
    case Message::kSint64List:
      return keep(ChakraKind::sint64, list<std::int64_t>(message.sint64_list()));
    case Message::kFixed32Value:
      return keep(ChakraKind::fixed32, std::uint64_t{message.fixed32_value()});
    case Message::kFixed32List:
      return keep(ChakraKind::fixed32, list<std::uint64_t>(message.fixed32_list()));
    case Message::kFixed64Value:
      return keep(ChakraKind::fixed64, std::uint64_t{message.fixed64_value()});
    case Message::kFixed64List:
      return keep(ChakraKind::fixed64, list<std::uint64_t>(message.fixed64_list()));
    case Message::kSfixed32Value:
      return keep(ChakraKind::sfixed32, std::int64_t{message.sfixed32_value()});
    case Message::kSfixed32List:
      return keep(ChakraKind::sfixed32, list<std::int64_t>(message.sfixed32_list()));
    case Message::kSfixed64Value:
      return keep(ChakraKind::sfixed64, std::int64_t{message.sfixed64_value()});
    case Message::kSfixed64List:
      return keep(ChakraKind::sfixed64, list<std::int64_t>(message.sfixed64_list()));
    case Message::kBoolValue:
      return keep(ChakraKind::boolean, std::uint64_t{message.bool_value()});
    case Message::kBoolList:
      return keep(ChakraKind::boolean, list<std::uint64_t>(message.bool_list()));
    case Message::kStringValue:
      return keep(ChakraKind::string, message.string_value());
    case Message::kStringList:
      return keep(ChakraKind::string, list<std::string>(message.string_list()));
    case Message::kBytesValue:
      return keep(ChakraKind::bytes, message.bytes_value());
    case Message::kBytesList:
      return keep(ChakraKind::bytes, list<std::string>(message.bytes_list()));
    case Message::VALUE_NOT_SET:
      break;
  }
  return out;
}

void set_message(const ChakraAttribute& a, chakra_messages::Attribute& message) {
  message.set_name(readable_text(a.name));
  if (a.documentation) message.set_documentation(readable_text(*a.documentation));
  switch (a.kind) {
    case ChakraKind::none:
      return;
    case ChakraKind::double_kind:
      if (const auto* one = std::get_if<double>(&a.value)) {
        message.set_double_value(*one);
      } else if (const auto* many = std::get_if<std::vector<double>>(&a.value)) {
        for (const double v : *many) message.mutable_double_list()->add_values(v);
        message.mutable_double_list();
      }
      return;
    case ChakraKind::float_kind:
      if (const auto* one = std::get_if<double>(&a.value)) {
        message.set_float_value(static_cast<float>(*one));
      } else if (const auto* many = std::get_if<std::vector<double>>(&a.value)) {
        for (const double v : *many)
          message.mutable_float_list()->add_values(static_cast<float>(v));
        message.mutable_float_list();
      }
      return;
    case ChakraKind::int32:
      if (const auto* one = std::get_if<std::int64_t>(&a.value)) {
        message.set_int32_value(static_cast<std::int32_t>(*one));
      } else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&a.value)) {
        for (const std::int64_t v : *many)
          message.mutable_int32_list()->add_values(static_cast<std::int32_t>(v));
        message.mutable_int32_list();
      }
      return;
    case ChakraKind::int64:
      if (const auto* one = std::get_if<std::int64_t>(&a.value)) {
        message.set_int64_value(*one);
      } else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&a.value)) {
        for (const std::int64_t v : *many) message.mutable_int64_list()->add_values(v);
        message.mutable_int64_list();
      }
      return;
    case ChakraKind::uint32:
      if (const auto* one = std::get_if<std::uint64_t>(&a.value)) {
        message.set_uint32_value(static_cast<std::uint32_t>(*one));
      } else if (const auto* many = std::get_if<std::vector<std::uint64_t>>(&a.value)) {
        for (const std::uint64_t v : *many)
          message.mutable_uint32_list()->add_values(static_cast<std::uint32_t>(v));
        message.mutable_uint32_list();
      }
      return;
    case ChakraKind::uint64:
      if (const auto* one = std::get_if<std::uint64_t>(&a.value)) {
        message.set_uint64_value(*one);
      } else if (const auto* many = std::get_if<std::vector<std::uint64_t>>(&a.value)) {
        for (const std::uint64_t v : *many) message.mutable_uint64_list()->add_values(v);
        message.mutable_uint64_list();
      }
      return;
    case ChakraKind::sint32:
      if (const auto* one = std::get_if<std::int64_t>(&a.value)) {
        message.set_sint32_value(static_cast<std::int32_t>(*one));
      } else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&a.value)) {
        for (const std::int64_t v : *many)
          message.mutable_sint32_list()->add_values(static_cast<std::int32_t>(v));
        message.mutable_sint32_list();
      }
      return;
    case ChakraKind::sint64:
      if (const auto* one = std::get_if<std::int64_t>(&a.value)) {
        message.set_sint64_value(*one);
      } else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&a.value)) {
        for (const std::int64_t v : *many) message.mutable_sint64_list()->add_values(v);
        message.mutable_sint64_list();
      }
      return;
    case ChakraKind::fixed32:
      if (const auto* one = std::get_if<std::uint64_t>(&a.value)) {
        message.set_fixed32_value(static_cast<std::uint32_t>(*one));
      } else if (const auto* many = std::get_if<std::vector<std::uint64_t>>(&a.value)) {
        for (const std::uint64_t v : *many)
          message.mutable_fixed32_list()->add_values(static_cast<std::uint32_t>(v));
        message.mutable_fixed32_list();
      }
      return;
    case ChakraKind::fixed64:
      if (const auto* one = std::get_if<std::uint64_t>(&a.value)) {
        message.set_fixed64_value(*one);
      } else if (const auto* many = std::get_if<std::vector<std::uint64_t>>(&a.value)) {
        for (const std::uint64_t v : *many) message.mutable_fixed64_list()->add_values(v);
        message.mutable_fixed64_list();
      }
      return;
    case ChakraKind::sfixed32:
      if (const auto* one = std::get_if<std::int64_t>(&a.value)) {
        message.set_sfixed32_value(static_cast<std::int32_t>(*one));
      } else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&a.value)) {
        for (const std::int64_t v : *many)
          message.mutable_sfixed32_list()->add_values(static_cast<std::int32_t>(v));
        message.mutable_sfixed32_list();
      }
      return;
    case ChakraKind::sfixed64:
      if (const auto* one = std::get_if<std::int64_t>(&a.value)) {
        message.set_sfixed64_value(*one);
      } else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&a.value)) {
        for (const std::int64_t v : *many) message.mutable_sfixed64_list()->add_values(v);
        message.mutable_sfixed64_list();
      }
      return;
    case ChakraKind::boolean:
      if (const auto* one = std::get_if<std::uint64_t>(&a.value)) {
        message.set_bool_value(*one != 0);
      } else if (const auto* many = std::get_if<std::vector<std::uint64_t>>(&a.value)) {
        for (const std::uint64_t v : *many) message.mutable_bool_list()->add_values(v != 0);
        message.mutable_bool_list();
      }
      return;
    case ChakraKind::string:
      if (const auto* one = std::get_if<std::string>(&a.value)) {
        message.set_string_value(readable_text(*one));
      } else if (const auto* many = std::get_if<std::vector<std::string>>(&a.value)) {
        for (const std::string& v : *many)
          message.mutable_string_list()->add_values(readable_text(v));
        message.mutable_string_list();
      }
      return;
    case ChakraKind::bytes:
      if (const auto* one = std::get_if<std::string>(&a.value)) {
        message.set_bytes_value(*one);
      } else if (const auto* many = std::get_if<std::vector<std::string>>(&a.value)) {
        for (const std::string& v : *many) message.mutable_bytes_list()->add_values(v);
        message.mutable_bytes_list();
      }
      return;
  }
}

}  // namespace orrery
