#include "trace/graph_file/graph_file.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "document/json_quoted.h"
#include "graph/operation.h"
#include "outcome/enum_names.h"
#include "trace/byte_stream.h"

namespace orrery {
namespace {

// The parts of an operation (graph/operation.h) in a graph's file, one JSON object each:
//
//   {"product": [m, n, k, groups], "format": "bf16", "flops": F, "bytes": B, "launches": 1,
//    "pieces": 1}
//   {"attention": [batch, queries, keys, heads, kv_heads, query_key_dim, value_dim, window], ...}
//   {"memory": B, "launches": 3}
//   {"collective": "all_gather", "group": 1, "bytes": B, "pieces": 1, "times": 1}, and of exchanges
//   of tokens "tokens", "token_bytes", "top_k", "experts", "away"
//   {"message": B, "level": 1, "crossing": 1}   {"host_copy": B, "over": "memory"}   {"seconds": S}
//
// with "rounding": "with_previous" where it applies. Numbers that are 1 or 0 by default are left
// out.

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
      out += member("pairs", shape.pairs, 1) + member("longest", shape.longest, 0);
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
      out += member("groups", tokens->limit.groups, 1) + member("chosen", tokens->limit.chosen, 1);
    }
    return out;
  }
  std::string operator()(const Message& m) const {
    std::string out = fmt::format("\"message\": {}, \"level\": {}", m.bytes.value(), m.level);
    if (m.crossing != 1) out += fmt::format(", \"crossing\": {}", m.crossing);
    return out;
  }
  std::string operator()(const HostCopy& c) const {
    std::string out = fmt::format("\"host_copy\": {}", c.bytes.value());
    if (c.over != HostResource::link) out += fmt::format(", \"over\": \"{}\"", to_text(c.over));
    return out;
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
    shape.pairs = r.number("pairs", 1);
    shape.longest = r.number("longest", 0);
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
    c.tokens =
        TokenExchange{r.number("tokens"),   Bytes(r.number("token_bytes")),
                      r.number("top_k"),    r.number("experts"),
                      r.number("away") > 0, {r.positive("groups", 1), r.number("chosen", 1)}};
  }
  return c;
}

std::string operation_part_text(const OperationPart& part) {
  const bool joined = part.rounding == OperationPart::Rounding::with_previous;
  return "{" + std::visit(PartText(), part.what) +
         (joined ? ", \"rounding\": \"with_previous\"}" : "}");
}

// Nothing where it is no part. Groups are places below `groups`.
std::optional<OperationPart> read_operation_part(dom::element e, std::size_t groups) {
  PartReader r(e);
  OperationPart out;
  if (r.has("collective")) {
    out.what = read_communication(r, groups);
  } else if (r.has("message")) {
    out.what =
        Message{Bytes(r.number("message")), r.whole("level", 0, 1e6), r.number("crossing", 1)};
  } else if (r.has("host_copy")) {
    HostCopy copy{Bytes(r.number("host_copy"))};
    if (r.has("over")) copy.over = r.word<HostResource>("over");
    out.what = copy;
  } else if (r.has("seconds")) {
    out.what = StatedTime{Seconds(r.number("seconds"))};
  } else {
    out.what = read_kernel(r);
  }
  if (r.has("rounding")) out.rounding = OperationPart::Rounding::with_previous;
  if (!r.good()) return std::nullopt;
  return out;
}

namespace dom = simdjson::dom;

constexpr std::int64_t kLongestPs = std::int64_t{1} << 53;

template <class List>
std::string numbers(const List& list) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ",") + std::to_string(item);
  return out;
}

class GraphReader {
 public:
  explicit GraphReader(const std::string& name) : name_(name) {}

  Result<GraphFile> read(dom::element root) {
    std::int64_t version = 0;
    if (root["orrery_graph"].get(version) != simdjson::SUCCESS) {
      return refuse("is not a graph file", "it begins {\"orrery_graph\": 2");
    }
    if (version != 2) {
      return refuse("is of version " + std::to_string(version),
                    "this program reads version 2: write the graph again");
    }
    std::vector<CategoryLabel> categories;
    std::vector<Group> groups;
    ORRERY_RETURN_IF_ERROR(
        each(root, "categories", [&](dom::element e) { return category(e, categories); }));
    ORRERY_RETURN_IF_ERROR(each(root, "groups", [&](dom::element e) { return group(e, groups); }));
    categories_ = categories.size();
    groups_ = groups.size();
    builder_ =
        GraphBuilder(std::make_shared<const std::vector<CategoryLabel>>(std::move(categories)),
                     std::move(groups));
    ORRERY_RETURN_IF_ERROR(each(root, "streams", [&](dom::element e) { return stream(e); }));
    ORRERY_RETURN_IF_ERROR(each(root, "operations", [&](dom::element e) { return operation(e); }));
    dom::array nodes;
    if (root["nodes"].get(nodes) == simdjson::SUCCESS) {
      builder_.reserve(nodes.size(), 2 * nodes.size());
    }
    ORRERY_RETURN_IF_ERROR(each(root, "nodes", [&](dom::element e) { return node(e); }));
    ORRERY_RETURN_IF_ERROR(each(root, "steps", [&](dom::element e) { return step(e); }));
    out_.graph = builder_.build();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Failure refuse(const std::string& what, const std::string& hint = "") const {
    return bad_input(what, name_, hint);
  }
  [[nodiscard]] Failure refuse_node(const std::string& what) const {
    return bad_input(what, name_ + ": node " + std::to_string(builder_.size()));
  }

  // A whole number from 0 to below `limit`.
  template <class Element>
  static std::optional<std::uint32_t> index(Element e, std::size_t limit) {
    std::int64_t value = 0;
    if (e.get(value) != simdjson::SUCCESS) return std::nullopt;
    if (value < 0 || static_cast<std::uint64_t>(value) >= limit) return std::nullopt;
    return static_cast<std::uint32_t>(value);
  }

  template <class Read>
  Result<void> each(dom::element root, const char* list_name, Read read) {
    dom::array list;
    if (root[list_name].get(list) != simdjson::SUCCESS) {
      return refuse(std::string("has no list '") + list_name + "'");
    }
    for (const dom::element e : list) ORRERY_RETURN_IF_ERROR(read(e));
    return {};
  }

  static std::string text_member(dom::element e, const char* name) {
    std::string_view text;
    return e[name].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
  }

  Result<void> category(dom::element e, std::vector<CategoryLabel>& out) {
    const auto kind = parse_enum<CategoryClass>(text_member(e, "class"));
    if (!kind || out.size() == kMostCategories) {
      return refuse("category " + std::to_string(out.size()) + " is of no known class",
                    "at most 20 of: computing, communication, transfer, copy, host, idle");
    }
    out.push_back({text_member(e, "name"), *kind});
    return {};
  }

  Result<void> group(dom::element e, std::vector<Group>& out) {
    Group read;
    read.label = text_member(e, "label");
    constexpr std::size_t kMostRanks = 1'000'000'000;
    const auto size = index(e["size"], kMostRanks);
    dom::array members;
    bool good = size && *size > 0 && e["members"].get(members) == simdjson::SUCCESS;
    if (good) {
      read.shape.size = static_cast<int>(*size);
      for (const dom::element m : members) {
        const auto ranks = index(m, kMostRanks);
        good = good && ranks;
        read.shape.members.push_back(static_cast<int>(ranks.value_or(0)));
      }
    }
    if (!good) return refuse("group " + std::to_string(out.size()) + " lacks size or members");
    out.push_back(std::move(read));
    return {};
  }

  Result<void> stream(dom::element e) {
    const std::string place = "stream " + std::to_string(streams_);
    const auto rank = index(e["rank"], 1'000'000'000);
    if (!rank) return refuse(place + " has no rank", "a whole number from 0");
    const std::string word = text_member(e, "role");
    std::size_t role = 0;
    while (role < kStreamRoles && to_text(static_cast<StreamRole>(role)) != word) ++role;
    if (role == kStreamRoles) return refuse(place + " has no known role: '" + word + "'");
    const std::string label = text_member(e, "label");
    builder_.add_stream({*rank, static_cast<StreamRole>(role),
                         label.empty() ? NameIndex() : builder_.add_name(label)});
    ++streams_;
    return {};
  }

  Result<void> operation(dom::element e) {
    const std::string place = "operation " + std::to_string(operations_);
    const std::string word = text_member(e, "kind");
    const auto kind = parse_enum<NodeKind>(word);
    if (!kind) return refuse(place + " is of no known kind: '" + word + "'");
    Operation out;
    out.kind = *kind;
    const auto category = index(e["category"], std::max<std::size_t>(1, categories_));
    if (!category) return refuse(place + ": 'category' is not an index into the categories");
    out.category = static_cast<CategoryIndex>(*category);
    out.name = builder_.add_name(text_member(e, "name"));
    dom::array parts;
    if (e["parts"].get(parts) == simdjson::SUCCESS) {
      for (const dom::element part : parts) {
        const auto read = read_operation_part(part, groups_);
        if (!read) return refuse(place + " has a part that is none");
        out.parts.push_back(*read);
      }
    }
    builder_.add_operation(std::move(out));
    ++operations_;
    return {};
  }

  Result<void> node(dom::element e) {
    NodeSpec spec;
    const auto operation = index(e["operation"], operations_);
    if (!operation) return refuse_node("'operation' is not an index into the operations");
    spec.operation = OperationIndex(*operation);
    const auto stream = index(e["stream"], streams_);
    if (!stream) return refuse_node("'stream' is not an index into the streams");
    spec.stream = StreamIndex(*stream);
    std::int64_t duration = 0;
    if (e["duration_ps"].get(duration) != simdjson::SUCCESS || duration < 0 ||
        duration > kLongestPs) {
      return refuse_node("'duration_ps' is not a whole number from 0 to 2^53");
    }
    spec.duration = Picoseconds(static_cast<double>(duration));
    std::vector<NodeIndex> after;
    dom::array list;
    if (e["after"].get(list) == simdjson::SUCCESS) {
      for (const dom::element item : list) {
        const auto before = index(item, builder_.size());
        if (!before) return refuse_node("waits for a node that does not stand before it");
        after.emplace_back(*before);
      }
    }
    std::vector<StreamIndex> with;
    if (e["with"].get(list) == simdjson::SUCCESS) {
      for (const dom::element item : list) {
        const auto other = index(item, streams_);
        if (!other) return refuse_node("'with' has an entry that is not an index into the streams");
        with.emplace_back(*other);
      }
    }
    if (with.empty()) {
      builder_.add(spec, after);
    } else {
      builder_.add_rendezvous(spec, std::move(with), after);
    }
    return {};
  }

  Result<void> step(dom::element e) {
    const std::string place = "step " + std::to_string(out_.steps.size());
    GraphFileStep out;
    const auto rank = index(e["rank"], 1'000'000'000);
    const auto until = index(e["until"], builder_.size());
    std::string_view name;
    std::int64_t recorded = 0;
    if (!rank || !until || e["name"].get(name) != simdjson::SUCCESS ||
        e["recorded_ps"].get(recorded) != simdjson::SUCCESS || recorded < 0) {
      return refuse(place + " lacks rank, name, recorded_ps, or a node 'until'");
    }
    out.rank = *rank;
    out.name = name;
    out.until = *until;
    out.recorded_ps = static_cast<double>(recorded);
    dom::element after;
    if (e["after"].get(after) != simdjson::SUCCESS) return refuse(place + " lacks 'after'");
    if (!after.is_null()) {
      const auto node = index(after, builder_.size());
      if (!node) return refuse(place + ": 'after' is neither null nor a node");
      out.after = node;
    }
    out_.steps.push_back(std::move(out));
    return {};
  }

  const std::string& name_;
  GraphFile out_;
  GraphBuilder builder_;
  std::size_t categories_ = 0, groups_ = 0, streams_ = 0, operations_ = 0;  // how many were read
};

}  // namespace

std::string graph_file_text(const GraphFile& file) {
  const Graph& graph = file.graph;
  std::string out = "{\"orrery_graph\": 2,\n\"categories\": [";
  const auto list = [&](const auto& items, auto text) {
    std::string_view before = "\n";
    for (const auto& item : items) {
      out += before;
      out += text(item);
      before = ",\n";
    }
  };
  list(graph.categories(), [](const CategoryLabel& c) {
    return fmt::format("{{\"name\": {}, \"class\": \"{}\"}}", json_quoted(c.name), to_text(c.kind));
  });
  out += "],\n\"groups\": [";
  list(graph.groups(), [](const Group& g) {
    return fmt::format("{{\"label\": {}, \"size\": {}, \"members\": [{}]}}", json_quoted(g.label),
                       g.shape.size, numbers(g.shape.members));
  });
  out += "],\n\"streams\": [";
  list(graph.streams(), [&](const Stream& s) {
    return fmt::format("{{\"rank\": {}, \"role\": \"{}\", \"label\": {}}}", s.rank_class,
                       to_text(s.role), json_quoted(graph.text(s.label)));
  });
  out += "],\n\"operations\": [";
  list(graph.operations(), [&](const Operation& o) {
    std::string parts;
    for (const OperationPart& part : o.parts) {
      parts += (parts.empty() ? ", \"parts\": [" : ", ") + operation_part_text(part);
    }
    return fmt::format("{{\"kind\": \"{}\", \"category\": {}, \"name\": {}{}}}", to_text(o.kind),
                       static_cast<int>(o.category), json_quoted(graph.text(o.name)),
                       parts.empty() ? "" : parts + "]");
  });
  out += "],\n\"steps\": [";
  for (std::size_t s = 0; s < file.steps.size(); ++s) {
    const GraphFileStep& step = file.steps[s];
    out += fmt::format(
        "{}\n{{\"rank\": {}, \"name\": {}, \"after\": {}, \"until\": {}, \"recorded_ps\": {:.0f}}}",
        s == 0 ? "" : ",", step.rank, json_quoted(step.name),
        step.after ? std::to_string(*step.after) : "null", step.until, step.recorded_ps);
  }
  out += "],\n\"nodes\": [";
  std::vector<std::uint32_t> with;
  auto rendezvous = graph.rendezvous().begin();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    fmt::format_to(std::back_inserter(out),
                   "{}\n{{\"operation\": {}, \"stream\": {}, \"duration_ps\": {:.0f}",
                   i == 0 ? "" : ",", graph.operation_index(n).value(), graph.stream(n).value(),
                   graph.duration(n).count());
    if (!graph.predecessors(n).empty()) {
      out += ", \"after\": [" + numbers(graph.predecessors(n)) + "]";
    }
    if (rendezvous != graph.rendezvous().end() && rendezvous->first == n) {
      with.clear();
      for (const StreamIndex s : rendezvous->second) with.push_back(s.value());
      if (!with.empty()) out += ", \"with\": [" + numbers(with) + "]";
      ++rendezvous;
    }
    out += "}";
  }
  return out + "]}\n";
}

Result<GraphFile> parse_graph_file(std::string_view text, const std::string& name) {
  dom::parser parser;
  dom::element root;
  const simdjson::padded_string padded(text);
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS) {
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    return bad_input(std::string("is not JSON: ") + simdjson::error_message(error), name);
  }
  return GraphReader(name).read(root);
}

Result<GraphFile> read_graph_file(const std::string& file) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  ORRERY_TRY(const std::string text, stream.rest());
  return parse_graph_file(text, stream.name());
}

}  // namespace orrery
