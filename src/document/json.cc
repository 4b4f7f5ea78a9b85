// JSON through RapidJSON's iterative SAX reader; lines are counted from the reader's offset.
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>

#include <algorithm>
#include <charconv>

#include "document/document_builder.h"
#include "document/json_quoted.h"
#include "document/json_word.h"
#include "document/utf8.h"
#include "document/value.h"

namespace orrery {
namespace {

class JsonBuilder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonBuilder> {
 public:
  JsonBuilder(std::string_view text, const rapidjson::MemoryStream& stream)
      : text_(text), stream_(stream) {}
  DocumentBuilder builder;

  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method): RapidJSON's reader calls the
  // handler's type directly; the base class only fills in the events that are not handled.
  bool Null() { return scalar(Value::Kind::null, ""); }
  bool Bool(bool b) { return scalar(Value::Kind::boolean, b ? "true" : "false"); }
  // Python writes "Infinity" and "NaN", which no field takes as a number.
  bool RawNumber(const char* s, rapidjson::SizeType n, bool) {
    const bool digits = s[n > 1 && s[0] == '-' ? 1 : 0] <= '9';
    return scalar(digits ? Value::Kind::number : Value::Kind::text, std::string(s, n));
  }
  bool String(const char* s, rapidjson::SizeType n, bool) {
    return valid(s, n) && scalar(Value::Kind::text, std::string(s, n));
  }
  bool Key(const char* s, rapidjson::SizeType n, bool) {
    return valid(s, n) && builder.key(std::string(s, n), line());
  }
  bool StartObject() { return begin(Value::map()); }
  bool EndObject(rapidjson::SizeType) { return builder.end(); }
  bool StartArray() { return begin(Value::list()); }
  bool EndArray(rapidjson::SizeType) { return builder.end(); }
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)

 private:
  // RapidJSON checks the bytes of the file, but lets "\udc00", half a character, through.
  bool valid(const char* s, rapidjson::SizeType n) {
    return !first_invalid_utf8(std::string_view(s, n)) ||
           builder.refuse("a text holds \\u0000 or half a character", line());
  }
  bool scalar(Value::Kind kind, std::string raw) {
    return builder.scalar(Value::scalar(kind, std::move(raw), line()));
  }
  bool begin(Value container) {
    container.set_line(line());
    return builder.begin(std::move(container));
  }
  int line() {
    const std::size_t offset = std::min(stream_.Tell(), text_.size());
    line_ +=
        static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                    text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_ = std::max(counted_, offset);
    return line_;
  }
  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  std::size_t counted_ = 0;
  int line_ = 1;
};

}  // namespace

Result<Document> parse_json(std::string_view text, std::string name) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  JsonBuilder handler(text, stream);
  rapidjson::Reader reader;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
      rapidjson::kParseNanAndInfFlag | rapidjson::kParseValidateEncodingFlag;
  reader.Parse<kFlags>(stream, handler);
  if (handler.builder.failed()) return fail(at(std::move(name), handler.builder.error()));
  if (reader.HasParseError()) {
    const auto offset = static_cast<std::ptrdiff_t>(std::min(reader.GetErrorOffset(), text.size()));
    const auto line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
    if (reader.GetParseErrorCode() == rapidjson::kParseErrorDocumentEmpty) {
      return bad_input("the file is empty", name);
    }
    return bad_input(
        std::string("not valid JSON: ") + rapidjson::GetParseError_En(reader.GetParseErrorCode()),
        name + ": line " + std::to_string(line));
  }
  return Document{std::move(name), handler.builder.take_root()};
}

namespace {

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

// YAML has forms of numbers that JSON has not: .5, 007.
void number(Writer& out, const std::string& as_read) {
  double value = 0;
  const bool json = is_json_word(as_read);
  if (!json) std::from_chars(as_read.data(), as_read.data() + as_read.size(), value);
  const std::string text = json ? as_read : Value::number(value).scalar_text();
  out.RawValue(text.data(), text.size(), rapidjson::kNumberType);
}

void emit(Writer& out, const Value& v) {
  const auto text = [&](const std::string& s) {
    const std::string json = json_quoted(s);
    out.RawValue(json.data(), json.size(), rapidjson::kStringType);
  };
  switch (v.kind()) {
    case Value::Kind::null:
      out.Null();
      return;
    case Value::Kind::boolean:
      out.Bool(v.scalar_text() == "true");
      return;
    case Value::Kind::number:
      number(out, v.scalar_text());
      return;
    case Value::Kind::text:
      text(v.scalar_text());
      return;
    case Value::Kind::list:
      out.StartArray();
      for (const Value& item : v.items()) emit(out, item);
      out.EndArray();
      return;
    case Value::Kind::map:
      out.StartObject();
      for (const auto& [key, member] : v.members()) {
        text(key);
        emit(out, member);
      }
      out.EndObject();
      return;
  }
}

}  // namespace

std::string to_json(const Value& value) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.SetIndent(' ', 2);
  emit(writer, value);
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace orrery
