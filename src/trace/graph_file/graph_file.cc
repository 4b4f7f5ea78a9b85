#include "trace/graph_file/graph_file.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "trace/byte_stream.h"
#include "trace/chakra/readable_text.h"

namespace orrery {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kLargestFile = std::size_t{2} << 30;
constexpr std::int64_t kLongestPs = std::int64_t{1} << 53;

constexpr std::array<std::string_view, 7> kNodeKinds = {
    "kernel", "collective", "point_to_point", "copy", "host", "barrier", "block"};

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Texts of other programs may be no UTF-8, which JSON must be.
std::string text_of(std::string_view text) { return json_text(readable_text(text)); }

template <class List>
std::string numbers(const List& list) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ",") + std::to_string(item);
  return out;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<GraphFile> read(dom::element root) {
    std::int64_t version = 0;
    if (root["orrery_graph"].get(version) != simdjson::SUCCESS) {
      return refuse("is no graph file", "it begins {\"orrery_graph\": 1");
    }
    if (version != 1) {
      return refuse("is of version " + std::to_string(version), "this program reads version 1");
    }
    dom::array streams;
    dom::array names;
    dom::array nodes;
    dom::array steps;
    if (root["streams"].get(streams) != simdjson::SUCCESS) return refuse("has no list 'streams'");
    if (root["names"].get(names) != simdjson::SUCCESS) return refuse("has no list 'names'");
    if (root["operations"].get(nodes) != simdjson::SUCCESS)
      return refuse("has no list 'operations'");
    if (root["steps"].get(steps) != simdjson::SUCCESS) return refuse("has no list 'steps'");
    for (const dom::element e : streams) {
      ORRERY_TRY([[maybe_unused]] const std::monostate done, stream(e));
    }
    for (const dom::element e : names) {
      std::string_view text;
      if (e.get(text) != simdjson::SUCCESS) return refuse("a name is no text");
      names_.push_back(builder_.add_name(std::string(text)));
    }
    builder_.reserve(nodes.size(), 2 * nodes.size());
    for (const dom::element e : nodes) {
      ORRERY_TRY([[maybe_unused]] const std::monostate done, node(e));
    }
    for (const dom::element e : steps) {
      ORRERY_TRY([[maybe_unused]] const std::monostate done, step(e));
    }
    out_.graph = builder_.build();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Failure refuse(const std::string& what, const std::string& hint = "") const {
    return fail(ErrorCode::bad_input, what, name_, hint);
  }
  [[nodiscard]] Failure refuse_node(const std::string& what) const {
    return fail(ErrorCode::bad_input, what, name_ + ": node " + std::to_string(builder_.size()));
  }

  // A whole number from 0 to below `limit`.
  template <class Element>
  static std::optional<std::uint32_t> index(Element e, std::size_t limit) {
    std::int64_t value = 0;
    if (e.get(value) != simdjson::SUCCESS) return std::nullopt;
    if (value < 0 || static_cast<std::uint64_t>(value) >= limit) return std::nullopt;
    return static_cast<std::uint32_t>(value);
  }

  Result<std::monostate> stream(dom::element e) {
    const std::string place = "stream " + std::to_string(out_.stream_names.size());
    const auto rank = index(e["rank"], 1'000'000'000);
    if (!rank) return refuse(place + " has no rank", "a whole number from 0");
    std::string_view kind;
    std::string_view name;
    if (e["kind"].get(kind) != simdjson::SUCCESS || e["name"].get(name) != simdjson::SUCCESS) {
      return refuse(place + " lacks kind or name");
    }
    std::size_t k = 0;
    while (k < kStreamKinds && orrery::name(static_cast<StreamKind>(k)) != kind) ++k;
    if (k == kStreamKinds) {
      return refuse(place + " is of no known kind: '" + std::string(kind) + "'");
    }
    builder_.add_stream({*rank, static_cast<StreamKind>(k)});
    out_.stream_names.emplace_back(name);
    return std::monostate{};
  }

  Result<std::monostate> node(dom::element e) {
    NodeSpec spec;
    std::string_view kind;
    std::string_view category;
    if (e["kind"].get(kind) != simdjson::SUCCESS ||
        e["category"].get(category) != simdjson::SUCCESS) {
      return refuse_node("lacks kind or category");
    }
    const auto known = std::find(kNodeKinds.begin(), kNodeKinds.end(), kind);
    if (known == kNodeKinds.end()) {
      return refuse_node("is of no known kind: '" + std::string(kind) + "'");
    }
    spec.kind = static_cast<NodeKind>(known - kNodeKinds.begin());
    std::size_t c = 0;
    while (c < kCategories && orrery::name(static_cast<Category>(c)) != category) ++c;
    if (c == kCategories) {
      return refuse_node("is of no known category: '" + std::string(category) + "'");
    }
    spec.category = static_cast<Category>(c);
    const auto name = index(e["name"], names_.size());
    if (!name) return refuse_node("'name' is no index into the names");
    spec.name = names_[*name];
    const auto stream = index(e["stream"], out_.stream_names.size());
    if (!stream) return refuse_node("'stream' is no index into the streams");
    spec.stream = StreamIndex(*stream);
    std::int64_t duration = 0;
    if (e["duration_ps"].get(duration) != simdjson::SUCCESS || duration < 0 ||
        duration > kLongestPs) {
      return refuse_node("'duration_ps' is no whole number from 0 to 2^53");
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
        const auto other = index(item, out_.stream_names.size());
        if (!other) return refuse_node("'with' holds no index into the streams");
        with.emplace_back(*other);
      }
    }
    if (with.empty()) {
      builder_.add(spec, after);
    } else {
      builder_.add_rendezvous(spec, std::move(with), after);
    }
    return std::monostate{};
  }

  Result<std::monostate> step(dom::element e) {
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
    return std::monostate{};
  }

  const std::string& name_;
  GraphFile out_;
  GraphBuilder builder_;
  std::vector<NameIndex> names_;
};

}  // namespace

std::string graph_file_text(const GraphFile& file) {
  const Graph& graph = file.graph;
  std::string out = "{\"orrery_graph\": 1,\n\"streams\": [";
  for (std::size_t s = 0; s < graph.streams().size(); ++s) {
    const Stream& stream = graph.streams()[s];
    out += fmt::format("{}\n{{\"rank\": {}, \"kind\": \"{}\", \"name\": {}}}", s == 0 ? "" : ",",
                       stream.rank_class, name(stream.kind),
                       text_of(s < file.stream_names.size() ? file.stream_names[s] : ""));
  }
  // Names in the order of their first use.
  std::unordered_map<std::string_view, std::size_t> index;
  std::string names;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string_view text = graph.name(NodeIndex(i));
    if (!index.try_emplace(text, index.size()).second) continue;
    names += (names.empty() ? "\n" : ",\n") + text_of(text);
  }
  out += "],\n\"names\": [" + names + "],\n\"steps\": [";
  for (std::size_t s = 0; s < file.steps.size(); ++s) {
    const GraphFileStep& step = file.steps[s];
    out += fmt::format(
        "{}\n{{\"rank\": {}, \"name\": {}, \"after\": {}, \"until\": {}, \"recorded_ps\": {:.0f}}}",
        s == 0 ? "" : ",", step.rank, text_of(step.name),
        step.after ? std::to_string(*step.after) : "null", step.until, step.recorded_ps);
  }
  out += "],\n\"operations\": [";
  std::vector<std::uint32_t> with;
  auto rendezvous = graph.rendezvous().begin();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    fmt::format_to(std::back_inserter(out),
                   "{}\n{{\"kind\": \"{}\", \"category\": \"{}\", \"name\": {}, \"stream\": {}, "
                   "\"duration_ps\": {:.0f}",
                   i == 0 ? "" : ",", kNodeKinds[static_cast<std::size_t>(graph.kind(n))],
                   name(graph.category(n)), index.at(graph.name(n)), graph.stream(n).value(),
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
    return fail(ErrorCode::bad_input, std::string("is not JSON: ") + simdjson::error_message(error),
                name);
  }
  return Reader(name).read(root);
}

Result<GraphFile> read_graph_file(const std::string& file) {
  const std::string name = file == "-" ? "standard input" : file;
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  std::string text;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    ORRERY_TRY(const std::size_t size, stream.read(text.data() + before, kPiece));
    text.resize(before + size);
    if (size == 0) break;
    if (text.size() > kLargestFile) {
      return fail(ErrorCode::unsupported, "is larger than 2 GiB", name);
    }
  }
  if (stream.truncated()) return fail(ErrorCode::bad_input, "ends in the middle of its gzip", name);
  return parse_graph_file(text, name);
}

}  // namespace orrery
