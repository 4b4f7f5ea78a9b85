#include "trace/graph_file/operation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "outcome/enum_names.h"

namespace orrery {
namespace {

namespace dom = simdjson::dom;

// Names and places of the plain numbers of a shape, for writing and reading alike.
constexpr std::array kProduct = {&GemmShape::m, &GemmShape::n, &GemmShape::k, &GemmShape::groups};
constexpr std::array kAttention = {&AttentionShape::batch,     &AttentionShape::queries,
                                   &AttentionShape::keys,      &AttentionShape::heads,
                                   &AttentionShape::kv_heads,  &AttentionShape::query_key_dim,
                                   &AttentionShape::value_dim, &AttentionShape::window};
constexpr std::array<std::pair<std::string_view, bool AttentionShape::*>, 4> kAttentionFlags = {
    {{"causal", &AttentionShape::causal},
     {"fused_softmax", &AttentionShape::fused_softmax},
     {"wide_softmax", &AttentionShape::wide_softmax},
     {"narrow_scores", &AttentionShape::narrow_scores}}};

template <class Shape, std::size_t N>
std::string sizes_text(const Shape& shape, const std::array<double Shape::*, N>& sizes) {
  std::string out;
  for (const auto size : sizes) out += fmt::format("{}{}", out.empty() ? "" : ", ", shape.*size);
  return "[" + out + "]";
}

// A member that is left out where it has its default.
std::string member(std::string_view name, double value, double usual) {
  return value == usual ? "" : fmt::format(", \"{}\": {}", name, value);
}

struct PartText {
  std::string operator()(const Kernel& k) const {
    if (std::holds_alternative<std::monostate>(k.shape)) {
      return fmt::format("\"memory\": {}", k.bytes.value()) + member("launches", k.launches, 1);
    }
    std::string out;
    if (const auto* product = std::get_if<GemmShape>(&k.shape)) {
      out = "\"product\": " + sizes_text(*product, kProduct);
    } else {
      const auto& shape = std::get<AttentionShape>(k.shape);
      out = "\"attention\": " + sizes_text(shape, kAttention);
      for (const auto& [name, flag] : kAttentionFlags) out += member(name, shape.*flag ? 1 : 0, 0);
      out += fmt::format(", \"kernel\": \"{}\", \"direction\": \"{}\"", to_text(k.attention),
                         to_text(k.direction));
    }
    return out + fmt::format(", \"format\": \"{}\"", to_text(k.format)) +
           member("flops", k.flops.value(), 0) + member("bytes", k.bytes.value(), 0) +
           member("launches", k.launches, 1) + member("pieces", k.pieces, 1);
  }
  std::string operator()(const Communication& c) const {
    std::string out = fmt::format("\"collective\": \"{}\", \"group\": {}, \"bytes\": {}",
                                  to_text(c.collective), c.group.value(), c.payload.value()) +
                      member("pieces", c.pieces, 1) + member("times", c.times, 1) +
                      member("exposed", c.exposed, 1);
    if (const auto* tokens = std::get_if<TokenExchange>(&c.tokens)) {
      out += fmt::format(
          ", \"tokens\": {}, \"token_bytes\": {}, \"top_k\": {}, \"experts\": {}, \"away\": {}",
          tokens->tokens, tokens->token.value(), tokens->top_k, tokens->experts,
          tokens->away ? 1 : 0);
    }
    return out;
  }
  std::string operator()(const Message& m) const {
    return fmt::format("\"message\": {}, \"level\": {}", m.bytes.value(), m.level);
  }
  std::string operator()(const HostCopy& c) const {
    return fmt::format("\"host_copy\": {}", c.bytes.value());
  }
  std::string operator()(const StatedTime& t) const {
    return fmt::format("\"seconds\": {}", t.time.value());
  }
};

// Reads members of one object; what is missing or wrong is remembered.
class PartReader {
 public:
  explicit PartReader(dom::element e) : e_(e) {}

  [[nodiscard]] bool has(std::string_view name) const {
    return e_[name].error() == simdjson::SUCCESS;
  }
  double number(std::string_view name) {
    double value = 0;
    good_ = good_ && e_[name].get(value) == simdjson::SUCCESS && value >= 0 && value <= kMost;
    return value;
  }
  double number(std::string_view name, double usual) { return has(name) ? number(name) : usual; }
  // What divides others.
  double positive(std::string_view name, double usual) {
    const double value = number(name, usual);
    good_ = good_ && value >= kLeastDivisor;
    return value;
  }
  std::uint32_t whole(std::string_view name, double usual, double limit) {
    const double value = number(name, usual);
    good_ = good_ && value < limit;
    return good_ ? static_cast<std::uint32_t>(value) : 0;
  }
  template <class E>
  E word(std::string_view name) {
    std::string_view text;
    if (e_[name].get(text) == simdjson::SUCCESS) {
      if (const auto value = parse_enum<E>(text)) return *value;
    }
    good_ = false;
    return E{};
  }
  template <class Shape, std::size_t N>
  Shape sizes(std::string_view name, const std::array<double Shape::*, N>& members) {
    Shape out;
    dom::array list;
    good_ = good_ && e_[name].get(list) == simdjson::SUCCESS && list.size() == N;
    for (std::size_t i = 0; good_ && i < N; ++i) {
      good_ = list.at(i).get(out.*members[i]) == simdjson::SUCCESS && out.*members[i] >= 0;
    }
    return out;
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  static constexpr double kMost = 1e24;  // of bytes, FLOPs and sizes: no time of it is infinite
  static constexpr double kLeastDivisor = 1e-6;
  dom::element e_;
  bool good_ = true;
};

constexpr double kMostLaunches = 1e9;

Kernel read_kernel(PartReader& r) {
  Kernel k;
  k.launches = static_cast<int>(std::max(1U, r.whole("launches", 1, kMostLaunches)));
  if (r.has("memory")) {
    k.bytes = Bytes(r.number("memory"));
    return k;
  }
  if (r.has("product")) {
    k.shape = r.sizes("product", kProduct);
  } else {
    auto shape = r.sizes("attention", kAttention);
    for (const auto& [name, flag] : kAttentionFlags) shape.*flag = r.number(name, 0) > 0;
    k.shape = shape;
    k.attention = r.word<AttentionKernel>("kernel");
    k.direction = r.word<Direction>("direction");
  }
  k.format = r.word<NumberFormat>("format");
  k.flops = Flops(r.number("flops", 0));
  k.bytes = Bytes(r.number("bytes", 0));
  k.pieces = r.positive("pieces", 1);
  return k;
}

Communication read_communication(PartReader& r, std::size_t groups) {
  Communication c{.collective = r.word<CollectiveKind>("collective"),
                  .group = GroupIndex(
                      r.whole("group", static_cast<double>(groups), static_cast<double>(groups))),
                  .payload = Bytes(r.number("bytes")),
                  .pieces = r.positive("pieces", 1),
                  .times = r.number("times", 1),
                  .exposed = r.number("exposed", 1)};
  if (r.has("tokens")) {
    c.tokens = TokenExchange{r.number("tokens"), Bytes(r.number("token_bytes")), r.number("top_k"),
                             r.number("experts"), r.number("away") > 0};
  }
  return c;
}

}  // namespace

std::string operation_part_text(const OperationPart& part) {
  const bool joined = part.rounding == OperationPart::Rounding::with_previous;
  return "{" + std::visit(PartText(), part.what) +
         (joined ? ", \"rounding\": \"with_previous\"}" : "}");
}

std::optional<OperationPart> read_operation_part(dom::element e, std::size_t groups) {
  PartReader r(e);
  OperationPart out;
  if (r.has("collective")) {
    out.what = read_communication(r, groups);
  } else if (r.has("message")) {
    out.what = Message{Bytes(r.number("message")), r.whole("level", 0, 1e6)};
  } else if (r.has("host_copy")) {
    out.what = HostCopy{Bytes(r.number("host_copy"))};
  } else if (r.has("seconds")) {
    out.what = StatedTime{Seconds(r.number("seconds"))};
  } else {
    out.what = read_kernel(r);
  }
  if (r.has("rounding")) out.rounding = OperationPart::Rounding::with_previous;
  if (!r.good()) return std::nullopt;
  return out;
}

}  // namespace orrery
