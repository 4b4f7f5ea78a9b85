#include "model/transformer/hugging_face_keys.h"

namespace orrery {

namespace {

// Above every real figure, and small enough that a product of two stays exact.
constexpr std::int64_t kMostInteger = 1'000'000'000;

std::string place(const Value& v, std::string_view key) {
  return (v.line() > 0 ? "line " + std::to_string(v.line()) + ", " : "") + std::string(key);
}

}  // namespace

bool ConfigKeys::mentions(std::string_view key) const { return map_.find(key) != nullptr; }

bool ConfigKeys::has(std::string_view key) const {
  const Value* v = map_.find(key);
  return v != nullptr && v->kind() != Value::Kind::null;
}

void ConfigKeys::refuse(Error error) { errors_.push_back(std::move(error)); }

std::int64_t ConfigKeys::required(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (has(key)) return integer(keys, 0);
  }
  missing_.emplace_back(*keys.begin());
  return 0;
}

std::int64_t ConfigKeys::integer(std::initializer_list<std::string_view> keys,
                                 std::int64_t absent) {
  for (const std::string_view key : keys) {
    if (!has(key)) continue;
    const Value& v = *map_.find(key);
    const auto value = read_integer(v);
    if (!value) {
      refuse(at(place(v, key), value.error()));
      return 0;
    }
    if (*value < 0 || *value > kMostInteger) {
      refuse({ErrorCode::bad_input, "number " + v.scalar_text() + " is out of range", place(v, key),
              "0 to " + std::to_string(kMostInteger)});
      return 0;
    }
    return *value;
  }
  return absent;
}

bool ConfigKeys::flag(std::string_view key, bool absent) {
  if (!has(key)) return absent;
  const Value& v = *map_.find(key);
  const auto value = read_boolean(v);
  if (value) return *value;
  refuse(at(place(v, key), value.error()));
  return absent;
}

std::string ConfigKeys::text(std::string_view key, std::string absent) {
  if (!has(key)) return absent;
  const Value& v = *map_.find(key);
  const auto value = read_text(v);
  if (value) return *value;
  refuse(at(place(v, key), value.error()));
  return absent;
}

Result<void> ConfigKeys::outcome(std::string_view family) const {
  if (!errors_.empty()) return fail(errors_.front());
  if (missing_.empty()) return {};
  std::string names;
  for (const std::string& key : missing_) names += (names.empty() ? "" : ", ") + key;
  return fail(ErrorCode::bad_input,
              "config of model type '" + std::string(family) + "' lacks " + names,
              place(map_, "").substr(0, place(map_, "").find(',')));
}

FeedForwardKind feed_forward_kind(ConfigKeys& keys, const std::string& activation,
                                  FeedForwardGate gate) {
  const bool gelu = activation.rfind("gelu", 0) == 0;
  if (gate == FeedForwardGate::gated) {
    if (activation == "silu" || activation == "swish") return FeedForwardKind::swiglu;
    if (gelu) return FeedForwardKind::geglu;
  } else {
    if (gelu) return FeedForwardKind::gelu;
    if (activation == "relu") return FeedForwardKind::relu;
    if (activation == "relu2") return FeedForwardKind::squared_relu;
  }
  keys.refuse({ErrorCode::unsupported,
               "activation '" + activation + "' is not modelled in this feed-forward", "",
               gate == FeedForwardGate::gated ? "silu or gelu" : "gelu, relu or relu2"});
  return FeedForwardKind::gelu;
}

}  // namespace orrery
