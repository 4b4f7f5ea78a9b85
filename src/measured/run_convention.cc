#include "measured/run_convention.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "measured/embedded_conventions.h"
#include "outcome/invariant.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

// One file of validation/conventions, parsed once.
const Value& conventions(std::string_view name) {
  static const auto kDocuments = [] {
    std::vector<std::pair<std::string_view, Value>> out;
    for (const CatalogEntry& entry : embedded_conventions()) {
      auto document = parse_yaml(entry.text, std::string(entry.path));
      ORRERY_INVARIANT(document);
      out.emplace_back(entry.name, std::move(document->root));
    }
    return out;
  }();
  const auto found = std::find_if(kDocuments.begin(), kDocuments.end(),
                                  [&](const auto& d) { return d.first == name; });
  ORRERY_INVARIANT(found != kDocuments.end());
  return found->second;
}

const Value& section(std::string_view file, std::string_view key) {
  const Value* found = conventions(file).find(key);
  ORRERY_INVARIANT(found != nullptr);
  return *found;
}

// Lower case, with one space before, between and behind words.
std::string words_of(std::string_view text) {
  std::string out = " ";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += static_cast<char>(std::tolower(byte));
    } else if (out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.back() != ' ') out += ' ';
  return out;
}

// "2019..2021" or "2..", of one of the words.
bool any_word_within(const std::string& words, std::string_view range, std::size_t dots) {
  const auto least = parsed_number<std::int64_t>(range.substr(0, dots));
  const auto most = parsed_number<std::int64_t>(range.substr(dots + 2));
  for (std::size_t at = 1; at < words.size(); at = words.find(' ', at) + 1) {
    const auto number =
        parsed_number<std::int64_t>(std::string_view(words).substr(at, words.find(' ', at) - at));
    if (number && least && *number >= *least &&
        *number <= most.value_or(std::numeric_limits<std::int64_t>::max())) {
      return true;
    }
  }
  return false;
}

bool fits(const std::string& pattern, const std::string& text, bool of_words) {
  if (const auto dots = pattern.find(".."); dots != std::string::npos) {
    return any_word_within(words_of(text), pattern, dots);
  }
  if (of_words) return words_of(text).find(" " + pattern + " ") != std::string::npos;
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return text == pattern;
}

// Whether the `when` of an entry fits a row of that framework.
bool fits(const Value& entry, const MeasuredRow& row, const std::string& framework) {
  const Value* when = entry.find("when");
  ORRERY_INVARIANT(when != nullptr);
  return std::all_of(when->members().begin(), when->members().end(), [&](const auto& member) {
    std::string column = member.first;
    const bool of_words = column.ends_with("_says");
    if (of_words) column.resize(column.size() - std::string_view("_says").size());
    const std::string text = column == "convention" ? framework : cell_text(row, column);
    const Value& patterns = member.second;
    if (patterns.is_scalar()) return fits(patterns.scalar_text(), text, of_words);
    return std::any_of(patterns.items().begin(), patterns.items().end(),
                       [&](const Value& one) { return fits(one.scalar_text(), text, of_words); });
  });
}

// The framework of the first entry that fits; `otherwise` if none does.
std::string first_framework(const Value& entries, const MeasuredRow& row, std::string otherwise) {
  for (const Value& entry : entries.items()) {
    if (fits(entry, row, otherwise)) return entry.find("framework")->scalar_text();
  }
  return otherwise;
}

// Maps are laid over each other member by member, and what is assumed adds up.
void lay_over(Value& base, const Value& top) {
  for (const auto& [key, value] : top.members()) {
    if (key == "when" || key == "source") continue;
    const Value* old = base.find(key);
    if (old == nullptr || value.is_scalar()) {
      base.set(key, value);
      continue;
    }
    Value joined = *old;
    if (value.kind() == Value::Kind::map) lay_over(joined, value);
    for (const Value& item : value.items()) joined.append(item);
    base.set(key, std::move(joined));
  }
}

template <class T>
T read_embedded(const Value& value) {
  auto out = Codec<T>::read(value);
  ORRERY_INVARIANT(out);
  return std::move(*out);
}

}  // namespace

Fields<BlockConvention> fields_of(const BlockConvention*) {
  using B = BlockConvention;
  return Fields<B>("blocks")
      .optional<&B::family>("name of the architecture")
      .optional<&B::words>("said with the row")
      .optional<&B::norm>("kind of norm")
      .optional<&B::position_encoding>("of tokens")
      .optional<&B::linear_bias>("biases on all products")
      .optional<&B::tie_embeddings>("unless the row says no");
}

Fields<RunConvention> fields_of(const RunConvention*) {
  using C = RunConvention;
  return Fields<C>("convention")
      .optional<&C::framework>("entry of frameworks.yaml")
      .optional<&C::software>("entry of catalog/software")
      .optional<&C::dropout>("dropout is on")
      .optional<&C::cross_entropy>("kernels of the loss, fused or eager")
      .optional<&C::router>("kernels of the router, fused or eager")
      .optional<&C::launches>("how kernels are launched")
      .optional<&C::fp8_scaling>("what scales operands of fp8 products")
      .optional<&C::zero>("ZeRO stage")
      .optional<&C::sequence_parallel>("wherever tp > 1")
      .optional<&C::link>("network of a node, as text")
      .optional<&C::fabric>("entry of catalog/fabrics")
      .optional<&C::overlap>("which transfers run beside computation")
      .optional<&C::overlap_source>("where that is known from")
      .optional<&C::context_parallel>("how keys and values travel")
      .optional<&C::selective>("what selective recomputation means")
      .optional<&C::flash>("attention kernel of \"flash\" and of an empty cell")
      .optional<&C::transformer_engine>("attention kernel of that library")
      .optional<&C::vocab_multiple>("padding of the vocabulary, over tp")
      .optional<&C::vocab>("vocabulary where no row states it")
      .optional<&C::shard_group>("accelerators that share one sharded copy")
      .optional<&C::gradients>("format of gradients, or as_weights")
      .optional<&C::stage_layers>("how layers lie on stages")
      .optional<&C::chunks>("virtual stages of a device where none are stated")
      .optional<&C::blocks>("what blocks have besides their dimensions")
      .optional<&C::dispatch>("how tokens travel to experts")
      .optional<&C::packed>("fine-tuning fills its sequences")
      .optional<&C::document_tokens>("of a document in a packed sequence")
      .optional<&C::adapter_rank>("rank of adapters")
      .optional<&C::fit_weight>("weight of a row in a fit of steps")
      .optional<&C::judged_apart>("left out of the errors over all sources")
      .optional<&C::assume>("sentences said with the row");
}

Fields<NetworkName> fields_of(const NetworkName*) {
  return Fields<NetworkName>("network")
      .required<&NetworkName::says>("words in lower case")
      .required<&NetworkName::fabric>("entry of catalog/fabrics")
      .optional<&NetworkName::card>("rate of one card that the name implies")
      .optional<&NetworkName::link>("rate of one link");
}

Fields<SourceFigure> fields_of(const SourceFigure*) {
  return Fields<SourceFigure>("figure")
      .required<&SourceFigure::figure>("which figure")
      .required<&SourceFigure::source_id>("of which source")
      .required<&SourceFigure::target>("what it is to reach");
}

std::string framework_of(const MeasuredRow& row) {
  return first_framework(section("frameworks", "releases"), row,
                         first_framework(section("frameworks", "names"), row, ""));
}

RunConvention convention_of(const MeasuredRow& row, std::string_view software) {
  std::string framework;
  std::vector<const Value*> entries;
  const auto add_all = [&](const Value& of) {
    for (const Value& entry : of.items()) {
      if (fits(entry, row, framework)) entries.push_back(&entry);
    }
  };
  add_all(section("sources", "sources"));
  for (const Value* entry : entries) {
    if (const Value* named = entry->find("framework")) framework = named->scalar_text();
  }
  const Value& frameworks = section("frameworks", "frameworks");
  Value merged = Value::map();
  if (entries.empty()) {
    framework = framework_of(row);
    if (framework.empty()) merged.set("software", Value::text(std::string(software)));
    if (framework.empty() && software != kUsualSoftware) {
      for (const auto& [name, entry] : frameworks.members()) {
        const Value* of = entry.find("software");
        if (framework.empty() && of != nullptr && of->scalar_text() == software) framework = name;
      }
    }
    add_all(section("frameworks", "options"));
  }
  add_all(section("recipes", "recipes"));
  merged.set("framework", Value::text(framework));
  if (const Value* habits = frameworks.find(framework)) lay_over(merged, *habits);
  for (const Value* entry : entries) lay_over(merged, *entry);
  return read_embedded<RunConvention>(merged);
}

bool judged_apart(std::string_view source_id) {
  MeasuredRow row;
  row.source_id = source_id;
  return convention_of(row).judged_apart;
}

const std::vector<NetworkName>& network_names() {
  static const auto kNames =
      read_embedded<std::vector<NetworkName>>(section("networks", "networks"));
  return kNames;
}

std::string source_remark(std::string_view place) {
  return section("sources", "remarks").find(std::string(place))->scalar_text();
}

const std::vector<SourceFigure>& source_figures() {
  static const auto kFigures =
      read_embedded<std::vector<SourceFigure>>(section("sources", "figures"));
  return kFigures;
}

}  // namespace orrery
