#include "trace/kineto/text_window.h"

#include <algorithm>
#include <cstring>

namespace orrery {
namespace {

// One past the closing quote of the text that begins at `from`, or npos.
std::size_t end_of_json_text(std::string_view text, std::size_t from) {
  std::size_t at = from + 1;
  while (true) {
    const std::size_t quote = text.find('"', at);
    if (quote == std::string_view::npos) return quote;
    std::size_t backslashes = 0;
    while (text[quote - 1 - backslashes] == '\\') ++backslashes;  // stops at the opening quote
    if (backslashes % 2 == 0) return quote + 1;
    at = quote + 1;
  }
}

}  // namespace

TextWindow::TextWindow(ByteStream stream)
    : stream_(std::move(stream)), buffer_(block_ + kPadding + 1) {
  offset_ -= 1;  // the byte before the text
}

Result<bool> TextWindow::more() {
  if (ended_) return false;
  const std::size_t kept = end_ - begin_;
  if (kept > kLongestValue) {
    return bad_input("a value of more than 256 MiB", place(),
                     "one event or header value has to fit");
  }
  // As much again as is there already, so that a long value is not scanned over and over.
  const std::size_t wanted = std::max(block_, kept);
  block_ = std::min(2 * block_, kBlock);
  offset_ += begin_ - 1;
  if (kept + wanted + kPadding + 1 > buffer_.size()) {
    std::vector<char> larger(kept + wanted + kPadding + 1);
    std::memcpy(larger.data() + 1, buffer_.data() + begin_, kept);
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.data() + 1, buffer_.data() + begin_, kept);
  }
  begin_ = 1;
  end_ = begin_ + kept;
  ORRERY_TRY(const std::size_t got, stream_.read(buffer_.data() + end_, wanted));
  end_ += got;
  ended_ = got < wanted;
  std::memset(buffer_.data() + end_, ' ', kPadding);
  return got > 0;
}

Result<char> TextWindow::peek() {
  while (true) {
    while (begin_ < end_ && is_json_space(buffer_[begin_])) ++begin_;
    if (begin_ < end_) return buffer_[begin_];
    ORRERY_TRY(const bool any, more());
    if (!any) return '\0';
  }
}

Result<std::string_view> TextWindow::value() {
  while (true) {
    const std::size_t end = end_of_json_value(text(), 0);
    if (end != std::string_view::npos) return text().substr(0, end);
    ORRERY_TRY(const bool any, more());
    if (!any) return std::string_view();
  }
}

std::string TextWindow::place(std::size_t inside) const {
  return stream_.name() + ": byte " + std::to_string(offset() + inside);
}

std::size_t end_of_json_value(std::string_view text, std::size_t from) {
  if (from >= text.size()) return std::string_view::npos;
  if (text[from] == '"') return end_of_json_text(text, from);
  if (text[from] != '{' && text[from] != '[') {
    for (std::size_t at = from; at < text.size(); ++at) {
      if (is_json_space(text[at]) || text[at] == ',' || text[at] == '}' || text[at] == ']') {
        return at;
      }
    }
    return std::string_view::npos;
  }
  std::size_t depth = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    switch (text[at]) {
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      case '"':
        at = end_of_json_text(text, at);
        if (at == std::string_view::npos) return at;
        --at;
        break;
      default:
        break;
    }
  }
  return std::string_view::npos;
}

std::size_t last_whole_event(std::string_view text) {
  std::size_t end = 0;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_json_space(text[at])) ++at;
    if (at == text.size() || text[at] == ']') return end;
    at = end_of_json_value(text, at);
    if (at == std::string_view::npos) return end;
    end = at;
    while (at < text.size() && is_json_space(text[at])) ++at;
    if (at == text.size() || text[at] != ',') return end;
    ++at;
  }
}

}  // namespace orrery
