#include "measured/run_convention.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "measured/embedded_conventions.h"
#include "outcome/invariant.h"

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

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// "2019..2021" or "2..", of one of the words.
bool any_word_within(const std::string& words, std::string_view range, std::size_t dots) {
  const auto least = whole_number(range.substr(0, dots));
  const auto most = whole_number(range.substr(dots + 2));
  for (std::size_t at = 1; at < words.size(); at = words.find(' ', at) + 1) {
    const auto number = whole_number(std::string_view(words).substr(at, words.find(' ', at) - at));
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

std::span<const EnumName<SelectiveRecomputation>> names_of(SelectiveRecomputation) {
  using enum SelectiveRecomputation;
  static constexpr EnumName<SelectiveRecomputation> kNames[] = {
      {attention, "attention"},
      {alternate_products, "alternate_products"},
      {norms_and_activations, "norms_and_activations"},
      {share_of_layers, "share_of_layers"}};
  return kNames;
}

std::span<const EnumName<StageLayers>> names_of(StageLayers) {
  using enum StageLayers;
  static constexpr EnumName<StageLayers> kNames[] = {{even, "even"},
                                                     {balanced_parameters, "balanced_parameters"},
                                                     {full_then_rest, "full_then_rest"}};
  return kNames;
}

const Fields<BlockConvention>& fields_of(const BlockConvention*) {
  using B = BlockConvention;
  static const Fields<B> kTable =
      Fields<B>("blocks")
          .optional("family", &B::family, "name of the architecture")
          .optional("words", &B::words, "said with the row")
          .optional("norm", &B::norm, "kind of norm")
          .optional("position_encoding", &B::position_encoding, "of tokens")
          .optional("linear_bias", &B::linear_bias, "biases on all products")
          .optional("tie_embeddings", &B::tie_embeddings, "unless the row says no");
  return kTable;
}

const Fields<RunConvention>& fields_of(const RunConvention*) {
  using C = RunConvention;
  static const Fields<C> kTable =
      Fields<C>("convention")
          .optional("framework", &C::framework, "entry of frameworks.yaml")
          .optional("software", &C::software, "entry of catalog/software")
          .optional("dropout", &C::dropout, "dropout is on")
          .optional("zero", &C::zero, "ZeRO stage")
          .optional("sequence_parallel", &C::sequence_parallel, "wherever tp > 1")
          .optional("link", &C::link, "network of a node, as text")
          .optional("fabric", &C::fabric, "entry of catalog/fabrics")
          .optional("overlap", &C::overlap, "which transfers run beside computation")
          .optional("overlap_source", &C::overlap_source, "where that is known from")
          .optional("context_parallel", &C::context_parallel, "how keys and values travel")
          .optional("selective", &C::selective, "what selective recomputation means")
          .optional("flash", &C::flash, "attention kernel of \"flash\" and of an empty cell")
          .optional("transformer_engine", &C::transformer_engine,
                    "attention kernel of that library")
          .optional("vocab_multiple", &C::vocab_multiple, "padding of the vocabulary, over tp")
          .optional("vocab", &C::vocab, "vocabulary where no row states it")
          .optional("shard_group", &C::shard_group, "accelerators that share one sharded copy")
          .optional("gradients", &C::gradients, "format of gradients, or as_weights")
          .optional("stage_layers", &C::stage_layers, "how layers lie on stages")
          .optional("blocks", &C::blocks, "what blocks have besides their dimensions")
          .optional("dispatch", &C::dispatch, "how tokens travel to experts")
          .optional("packed", &C::packed, "fine-tuning fills its sequences")
          .optional("adapter_rank", &C::adapter_rank, "rank of adapters")
          .optional("fit_weight", &C::fit_weight, "weight of a row in a fit of steps")
          .optional("judged_apart", &C::judged_apart, "left out of the errors over all sources")
          .optional("assume", &C::assume, "sentences said with the row");
  return kTable;
}

const Fields<NetworkName>& fields_of(const NetworkName*) {
  static const Fields<NetworkName> kTable =
      Fields<NetworkName>("network")
          .required("says", &NetworkName::says, "words in lower case")
          .required("fabric", &NetworkName::fabric, "entry of catalog/fabrics")
          .optional("card", &NetworkName::card, "rate of one card that the name implies")
          .optional("link", &NetworkName::link, "rate of one link");
  return kTable;
}

const Fields<SourceFigure>& fields_of(const SourceFigure*) {
  static const Fields<SourceFigure> kTable =
      Fields<SourceFigure>("figure")
          .required("figure", &SourceFigure::figure, "which figure")
          .required("source_id", &SourceFigure::source_id, "of which source")
          .required("target", &SourceFigure::target, "what it is to reach");
  return kTable;
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
