// YAML through the event interface of yaml-cpp, so that aliases never expand and lines are kept.
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <streambuf>

#include "document/document_builder.h"
#include "document/utf8.h"
#include "document/value.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // only read
    setg(begin, begin, begin + text.size());
  }
};

bool is_number(const std::string& s) {
  const auto d = parsed_number<double>(std::string_view(s).substr(s.starts_with('+') ? 1 : 0));
  return d && std::isfinite(*d);
}

// The escapes \N and \_ stand for U+0085 and U+00A0, of which yaml-cpp 0.7 keeps only the low byte.
// As the file itself is valid UTF-8, such a byte has no other origin. Returns false if a byte
// begins no valid character: that is the escape \0, which documents must not contain.
bool mend_escapes(std::string& text) {
  std::string mended;
  std::string_view rest = text;
  while (const auto offset = first_invalid_utf8(rest)) {
    const char byte = rest[*offset];
    if (byte != '\x85' && byte != '\xA0') return false;
    mended.append(rest.substr(0, *offset)).append({'\xC2', byte});
    rest.remove_prefix(*offset + 1);
  }
  if (!mended.empty()) text = mended.append(rest);
  return true;
}

// Thrown inside yaml-cpp's callbacks only, to stop the parser at the first refusal.
struct Refused {};

class YamlBuilder : public YAML::EventHandler {
 public:
  DocumentBuilder builder;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (builder.expects_key()) check(builder.refuse("a field has no name", line(mark)));
    check(builder.scalar(Value::scalar(Value::Kind::null, "", line(mark))));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    check(builder.refuse("YAML aliases are not supported", line(mark)));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& escaped) override {
    std::string value = escaped;
    if (!mend_escapes(value)) check(builder.refuse("a text holds \\0", line(mark)));
    if (builder.expects_key()) {
      check(builder.key(value, line(mark)));
      return;
    }
    auto kind = Value::Kind::text;
    if (tag == "?") {  // a plain scalar; "!" marks a quoted one
      if (value == "null" || value == "~" || value.empty()) {
        kind = Value::Kind::null;
      } else if (value == "true" || value == "false") {
        kind = Value::Kind::boolean;
      } else if (is_number(value)) {
        kind = Value::Kind::number;
      }
    }
    check(builder.scalar(Value::scalar(
        kind, kind == Value::Kind::number && value.starts_with('+') ? value.substr(1) : value,
        line(mark))));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    begin(Value::list(), mark);
  }
  void OnSequenceEnd() override { check(builder.end()); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    begin(Value::map(), mark);
  }
  void OnMapEnd() override { check(builder.end()); }

 private:
  static int line(const YAML::Mark& mark) { return mark.line + 1; }
  void begin(Value container, const YAML::Mark& mark) {
    if (builder.expects_key()) check(builder.refuse("a field name must be text", line(mark)));
    container.set_line(line(mark));
    check(builder.begin(std::move(container)));
  }
  static void check(bool ok) {
    if (!ok) throw Refused{};
  }
};

// Stops at the beginning of a second document.
class NoMore : public YamlBuilder {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    builder.refuse("more than one document in a file", mark.line + 1);
    throw Refused{};
  }
};

}  // namespace

Result<Document> parse_yaml(std::string_view text, std::string name) {
  if (const auto offset = first_invalid_utf8(text)) {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*offset), '\n');
    return bad_input("not text: byte " + std::to_string(*offset) + " is not UTF-8",
                     name + ": line " + std::to_string(line));
  }
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  YamlBuilder handler;
  NoMore rest;
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(handler);
    if (handler.builder.has_root()) parser.HandleNextDocument(rest);
  } catch (const Refused&) {
    const DocumentBuilder& builder = handler.builder.failed() ? handler.builder : rest.builder;
    return fail(at(std::move(name), builder.error()));
  } catch (const YAML::Exception& e) {
    return bad_input("not valid YAML: " + e.msg,
                     name + ": line " + std::to_string(e.mark.line + 1));
  }
  if (!handler.builder.has_root()) return bad_input("the file is empty", name);
  return Document{std::move(name), handler.builder.take_root()};
}

namespace {

// Without quotes, this text would be read as something else, or its line breaks would be lost.
bool needs_quotes(const std::string& text) {
  return is_number(text) || text == "true" || text == "false" || text == "null" || text == "~" ||
         text.empty() || text.starts_with("---") || text.starts_with("...") ||  // of a document
         std::ranges::any_of(
             text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// A key on the line of its value may take 1024 characters (YAML 1.2, section 7.4.2), and escapes
// write a byte as up to four of them; longer ones are written after "? ".
constexpr std::size_t kShortKey = 255;

void emit_text(YAML::Emitter& out, const std::string& text) {
  if (needs_quotes(text)) out << YAML::DoubleQuoted;
  out << text;
}

void emit(YAML::Emitter& out, const Value& v) {
  switch (v.kind()) {
    case Value::Kind::null:
      out << YAML::Null;
      return;
    case Value::Kind::text:
      emit_text(out, v.scalar_text());
      return;
    case Value::Kind::boolean:
    case Value::Kind::number:
      out << v.scalar_text();
      return;
    case Value::Kind::list: {
      bool flat = true;
      for (const Value& item : v.items()) flat = flat && item.is_scalar();
      if (flat) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const Value& item : v.items()) emit(out, item);
      out << YAML::EndSeq;
      return;
    }
    case Value::Kind::map:
      out << YAML::BeginMap;
      for (const auto& [key, member] : v.members()) {
        if (key.size() > kShortKey) out << YAML::LongKey;
        out << YAML::Key;
        emit_text(out, key);
        out << YAML::Value;
        emit(out, member);
      }
      out << YAML::EndMap;
      return;
  }
}

}  // namespace

std::string to_yaml(const Value& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace orrery
