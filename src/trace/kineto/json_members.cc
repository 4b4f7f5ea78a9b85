#include "trace/kineto/json_members.h"

#include "trace/kineto/text_window.h"

namespace orrery {

void JsonMembers::skip_space() {
  while (at_ < text_.size() && is_json_space(text_[at_])) ++at_;
}

std::optional<JsonMember> JsonMembers::next() {
  const bool first = at_ == 0;
  skip_space();
  if (at_ == text_.size() || whole_) return std::nullopt;
  if (!first && text_[at_] == '}') {
    whole_ = true;
    return std::nullopt;
  }
  if (text_[at_] != (first ? '{' : ',')) return std::nullopt;
  ++at_;
  skip_space();
  if (first && at_ < text_.size() && text_[at_] == '}') {
    whole_ = true;
    return std::nullopt;
  }
  if (at_ == text_.size() || text_[at_] != '"') return std::nullopt;
  JsonMember out;
  std::size_t end = end_of_json_value(text_, at_);
  if (end == std::string_view::npos) return std::nullopt;
  out.key = text_.substr(at_ + 1, end - at_ - 2);
  at_ = end;
  skip_space();
  if (at_ == text_.size() || text_[at_] != ':') return std::nullopt;
  ++at_;
  skip_space();
  end = end_of_json_value(text_, at_);
  if (end == std::string_view::npos || end == at_) return std::nullopt;
  out.value = text_.substr(at_, end - at_);
  at_ = end;
  return out;
}

}  // namespace orrery
