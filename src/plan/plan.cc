#include "plan/plan.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace orrery {

Fields<Overlap> fields_of(const Overlap*) {
  return Fields<Overlap>("overlap")
      .optional<&Overlap::gradient_reduction>("reduce gradient buckets beside the backward pass")
      .optional<&Overlap::parameter_gather>("gather parameters beside the forward pass")
      .optional<&Overlap::tensor_parallel>(
          "cut products in tp pieces and pipeline them with their collective")
      .optional<&Overlap::tensor_tiles>(
          "reduce-scatters tile by tile beside the product that makes their input (T3)")
      .optional<&Overlap::pipeline>("sends and receives do not block computing")
      .optional<&Overlap::expert>("all-to-alls beside the shared expert")
      .optional<&Overlap::expert_batches>("all-to-alls beside the other pass of another microbatch")
      .optional<&Overlap::optimizer>(
          "the optimizer step is validated afterwards and waits for no gradient norm")
      .optional<&Overlap::outer>("copies that take local steps average beside them")
      .optional<&Overlap::host_update>("the host updates a block as its gradients arrive");
}

Fields<QuadraticRule> fields_of(const QuadraticRule*) {
  return Fields<QuadraticRule>("quadratic rule")
      .optional<&QuadraticRule::alpha>("local steps = (alpha / learning rate)^2")
      .optional<&QuadraticRule::learning_rate>("peak learning rate, which a cosine lowers to 0")
      .optional<&QuadraticRule::steps>("steps of the whole run; 0: no rule");
}

Fields<Plan> fields_of(const Plan*) {
  return Fields<Plan>("plan")
      .optional<&Plan::tp>("tensor-parallel degree")
      .optional<&Plan::cp>("context-parallel degree")
      .optional<&Plan::pp>("pipeline-parallel degree")
      .optional<&Plan::dp>("data-parallel degree; 0: what the GPUs leave")
      .optional<&Plan::ep>("expert-parallel degree, taken from tp*cp*dp; ranks that share tables")
      .optional<&Plan::etp>("tensor-parallel degree inside an expert; 0: default")
      .optional<&Plan::dispatch>("how tokens travel to their experts")
      .optional<&Plan::dispatch_format>("in which tokens are sent to their experts")
      .optional<&Plan::expert_placement>("which experts a rank holds")
      .optional<&Plan::expert_products>("how products of experts read the rows of their tokens")
      .optional<&Plan::redundant_experts>("copies of popular experts beside all experts")
      .optional<&Plan::sequence_parallel>("shard the sequence over tp between products")
      .optional<&Plan::context_parallel>("how attention gets the whole sequence")
      .optional<&Plan::ulysses>(
          "of cp, the ranks that exchange heads; 0: all if all-to-all, else 1")
      .optional<&Plan::context_balance>("which tokens of a row a context-parallel rank has")
      .optional<&Plan::context_placement>("which context-parallel group is on neighbouring ranks")
      .optional<&Plan::inner_ring>(
          "ranks of an inner ring, where the ring is divided; 0: it is not")
      .optional<&Plan::context_groups>("how many context-parallel ranks share a row")
      .optional<&Plan::loss_tiles>("pieces of a rank's tokens that the loss works through")
      .optional<&Plan::mlp_tiles>(
          "pieces of a rank's tokens that the feed-forward part works through")
      .optional<&Plan::schedule>("pipeline schedule")
      .optional<&Plan::chunks>("virtual stages a microbatch crosses, over devices")
      .optional<&Plan::group>("microbatches that pass a chunk together; 0: the schedule's default")
      .optional<&Plan::layers>("layers of each virtual stage, in order")
      .optional<&Plan::site_microbatches>(
          "microbatches of a replica in each site, where sites differ")
      .optional<&Plan::site_micro_batch>(
          "sequences of a microbatch in each site, where sites differ")
      .optional<&Plan::state_division>("how ranks of sites that differ share what ZeRO divides")
      .optional<&Plan::micro_batch>("sequences of a microbatch")
      .optional<&Plan::zero>("ZeRO stage: 0, 1, 2 or 3 (FSDP)")
      .optional<&Plan::shard_group>("ranks that share one sharded copy (HSDP); 0: all")
      .optional<&Plan::prefetch>(
          "blocks whose weights are gathered ahead of the one that runs (ZeRO 3)")
      .optional<&Plan::gradient_shard>(
          "ranks that share gradients (ZeRO 2, 3); 0: those that share the optimizer's states")
      .optional<&Plan::weight_shard>(
          "ranks that share weights (ZeRO 3); 0: those that share the optimizer's states")
      .optional<&Plan::offload_optimizer>("where optimizer states lie and are updated")
      .optional<&Plan::offload_parameters>("where shards of weights lie between their uses")
      .optional<&Plan::offload_activations>("where activations wait for their backward")
      .optional<&Plan::offload_share>(
          "share of the optimizer's states that lies in host memory or on storage")
      .optional<&Plan::update_stride>(
          "the device updates one of every so many parts of the offloaded states; 0: none")
      .optional<&Plan::gradients_in_place>(
          "gradients take the place of the 16-bit weights they belong to")
      .optional<&Plan::quantized_weights>("gather weights in 8 bits (ZeRO++)")
      .optional<&Plan::quantized_gradients>("reduce gradients in 4 bits (ZeRO++)")
      .optional<&Plan::secondary_shard>(
          "ranks that share a second copy of weights for the backward (ZeRO++); 0: none")
      .optional<&Plan::local_steps>("steps after which copies of the model average (DiLoCo)")
      .optional<&Plan::quadratic>("rule by which local steps increase as the learning rate falls")
      .optional<&Plan::averaging>("the copies of the model that a copy averages with")
      .optional<&Plan::gradient_code>("how gradients are coded when replicas exchange them")
      .optional<&Plan::gradient_bucket_mib>(
          "size of a gradient bucket in MiB; 0: one bucket per layer")
      .optional<&Plan::halves>(
          "how a microbatch is cut into two halves, of which one computes while the other "
          "communicates")
      .optional<&Plan::recompute>("activations computed again in the backward")
      .optional<&Plan::recompute_modules>(
          "with selective: parts of a layer; none stated: core_attn")
      .optional<&Plan::recompute_layers>("layers of each virtual stage that are recomputed; 0: all")
      .optional<&Plan::attention>("attention kernel")
      .optional<&Plan::table_sharding>(
          "how embedding tables are divided, where the model leaves the choice")
      .optional<&Plan::towers>(
          "groups of ranks that hold whole tables; 0: as the model has, or none")
      .optional<&Plan::codec>("what vectors of tables are sent as between nodes")
      .optional<&Plan::overlap>("what runs beside computing")
      .optional<&Plan::placement>("mesh axes from the fastest network outwards");
}

Fields<Training> fields_of(const Training*) {
  return Fields<Training>("training")
      .optional<&Training::sequence_length>("tokens of a sequence")
      .optional<&Training::source_length>("tokens of an encoder sequence")
      .optional<&Training::global_batch>("sequences of a step")
      .optional<&Training::precision>("number format of matrix products")
      .optional<&Training::optimizer>("optimizer")
      .optional<&Training::gradients>("number format gradients are accumulated and reduced in")
      .optional<&Training::moments>("number format of the optimizer's moments")
      .optional<&Training::dropout>(
          "dropout on the residual branches and on attention probabilities")
      .optional<&Training::documents>("the documents that rows are made of")
      .optional<&Training::expert_load>("how tokens choose their experts");
}

namespace {

// The flat text form: one scalar key a field; lists use '+' ("placement=tp+cp+pp+dp").
Value list_value(std::string_view text) {
  Value out = Value::list();
  while (true) {
    const std::size_t plus = text.find('+');
    const std::string item(text.substr(0, plus));
    const bool number = !item.empty() && item.find_first_not_of("0123456789") == std::string::npos;
    out.append(Value::scalar(number ? Value::Kind::number : Value::Kind::text, item, 0));
    if (plus == std::string_view::npos) return out;
    text.remove_prefix(plus + 1);
  }
}

Value scalar_value(std::string_view text) {
  const std::string s(text);
  if (s == "true" || s == "false") return Value::scalar(Value::Kind::boolean, s, 0);
  if (s == "on" || s == "yes") return Value::boolean(true);
  if (s == "off" || s == "no") return Value::boolean(false);
  if (!s.empty() && s.find_first_not_of("+-.0123456789eE") == std::string::npos) {
    return Value::scalar(Value::Kind::number, s, 0);
  }
  return Value::text(s);
}

// The names that other tools give to keys and values.
constexpr auto kAliases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"vpp", "chunks"},
    {"mbs", "micro_batch"},
    {"sp", "sequence_parallel"},
});
constexpr auto kContextParallelAliases =
    std::to_array<std::pair<std::string_view, std::string_view>>({
        {"ulysses", "all-to-all"},
        {"a2a", "all-to-all"},
        {"p2p", "ring"},
        {"allgather", "all-gather"},
        {"dsp", "dimension-switch"},
    });

std::string_view without_alias(std::string_view word, const auto& aliases) {
  for (const auto& [alias, meant] : aliases) {
    if (word == alias) return meant;
  }
  return word;
}

struct Setting {
  std::string text;
  std::string key;
  std::string value;
};

// The settings "key=value", which commas or blanks separate; blanks around '=' do not count.
std::vector<Setting> settings_of(std::string_view text) {
  constexpr std::string_view kBetween = ", \t\n";
  std::vector<std::string> items;
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!items.empty() && (word.starts_with('=') || items.back().ends_with('='))) {
      items.back() += word;
    } else {
      items.emplace_back(word);
    }
    at = text.find_first_not_of(kBetween, end);
  }
  std::vector<Setting> out;
  for (const std::string& item : items) {
    const std::size_t equals = std::min(item.find('='), item.size());
    std::string key = item.substr(0, equals);
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out.push_back({item, std::string(without_alias(key, kAliases)),
                   equals < item.size() ? item.substr(equals + 1) : ""});
  }
  return out;
}

// The key of a map inside the plan and of its member: "overlap.pipeline"; else no member.
std::pair<std::string, std::string> nested(std::string_view key) {
  const std::size_t dot = std::min(key.find('.'), key.size());
  return {std::string(key.substr(0, dot)), std::string(key.substr(std::min(dot + 1, key.size())))};
}

bool is_boolean(std::string_view key) {
  if (key.starts_with("overlap.")) return true;
  for (const FieldDescription& f : field_table<Plan>().description().fields) {
    if (f.key == key) return f.shape.kind == ValueShape::Kind::boolean;
  }
  return false;
}

}  // namespace

Result<Plan> parse_plan(std::string_view text, const Plan& base) {
  const auto& table = field_table<Plan>();
  Value map = table.write(base);
  std::vector<std::string> seen;
  for (const auto& [item, key, given] : settings_of(text)) {
    if (std::ranges::count(item, '=') != 1) {
      return bad_input("'" + item + "' is not key=value", "plan",
                       "write a plan such as \"tp=8,pp=16,micro_batch=1\"");
    }
    std::string_view value = given;
    if (key == "context_parallel") value = without_alias(value, kContextParallelAliases);
    if (is_boolean(key) && (value == "0" || value == "1")) value = value == "1" ? "true" : "false";
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return bad_input("'" + key + "' is given twice", "plan");
    }
    seen.push_back(key);
    if (const auto [outer, member] = nested(key); !member.empty()) {
      const Value* whole = map.find(outer);
      if (whole != nullptr && whole->kind() != Value::Kind::map) {
        return bad_input("'" + key + "' is given beside '" + outer + "'", "plan",
                         outer + " is set one field at a time, as in \"" + key + "=...\"");
      }
      Value changed = whole != nullptr ? *whole : Value::map();
      changed.set(member, scalar_value(value));
      map.set(outer, std::move(changed));
    } else if (key == "layers" || key == "site_microbatches" || key == "site_micro_batch" ||
               key == "placement" || key == "recompute_modules") {
      map.set(key, list_value(value));
    } else {
      map.set(key, scalar_value(value));
    }
  }
  auto plan = table.read(map);
  if (!plan && plan.error().hint.empty()) {
    for (const FieldDescription& f : table.description().fields) {
      if (f.key == plan.error().where) {
        return fail(at("plan", Error{plan.error().code, plan.error().message, f.key, f.sentence}));
      }
    }
  }
  return at("plan", std::move(plan));
}

std::vector<std::string> stated_fields(std::string_view text) {
  std::vector<std::string> out;
  for (Setting& setting : settings_of(text)) out.push_back(std::move(setting.key));
  return out;
}

std::string to_text(const Plan& plan) {
  std::string out;
  const auto item = [&](const std::string& key, const std::string& value) {
    out += (out.empty() ? "" : ",") + key + "=" + value;
  };
  const Value map = non_default_fields(plan);
  for (const auto& [key, value] : map.members()) {
    if (value.kind() == Value::Kind::map) {
      for (const auto& [inner, v] : value.members()) item(key + "." + inner, v.scalar_text());
    } else if (value.kind() == Value::Kind::list) {
      std::string joined;
      for (const Value& v : value.items()) joined += (joined.empty() ? "" : "+") + v.scalar_text();
      item(key, joined);
    } else {
      item(key, value.scalar_text());
    }
  }
  return out;
}

std::int64_t ranks_of_tower(const Plan& plan, std::int64_t domain) {
  return plan.towers > 1 ? plan.ep / plan.towers : std::gcd(plan.ep, domain);
}

Bytes optimizer_state(const Training& training) {
  const double moments = training.optimizer == Optimizer::adamw ? 2 : 1;
  return element_size(NumberFormat::fp32) + moments * element_size(training.moments);
}

bool averages_with_neighbours(const Plan& plan) {
  return plan.averaging == Averaging::ring || plan.averaging == Averaging::one_peer;
}

bool trains_copies_apart(const Plan& plan) {
  return plan.local_steps > 1 || plan.quadratic.steps > 0 || averages_with_neighbours(plan);
}

double mean_local_steps(const Plan& plan) {
  const QuadraticRule& rule = plan.quadratic;
  if (rule.steps == 0) return static_cast<double>(plan.local_steps);
  const auto steps = static_cast<double>(rule.steps);
  double rounds = 0;
  for (double t = 0; t < steps;) {
    const double rate = rule.learning_rate * (1 + std::cos(std::numbers::pi * t / steps)) / 2;
    const double allowed = std::floor(rule.alpha / rate * (rule.alpha / rate));
    const double local = std::max(static_cast<double>(plan.local_steps), allowed);
    // Rounds that begin before the rate has fallen to alpha / sqrt(local + 1) are all as long.
    const double cosine = 2 * rule.alpha / (rule.learning_rate * std::sqrt(local + 1)) - 1;
    const double longer = steps / std::numbers::pi * std::acos(std::clamp(cosine, -1.0, 1.0));
    const double equal = std::max(1.0, std::floor((std::min(longer, steps) - t) / local));
    rounds += equal;
    t += equal * local;
  }
  return steps / rounds;
}

std::int64_t degree(const Plan& plan, MeshAxis axis) {
  switch (axis) {
    case MeshAxis::tp:
      return plan.tp;
    case MeshAxis::cp:
      return plan.cp;
    case MeshAxis::pp:
      return plan.pp;
    case MeshAxis::dp:
      return plan.dp;
    case MeshAxis::ep:
      break;  // taken from the others
  }
  return 1;
}

bool switches_dimension(const Plan& plan) {
  return plan.cp > 1 && plan.context_parallel == ContextParallel::dimension_switch;
}

std::int64_t head_ranks(const Plan& plan) {
  if (plan.context_parallel == ContextParallel::all_to_all) return plan.cp;
  return std::max<std::int64_t>(1, plan.ulysses);
}

std::int64_t ring_ranks(const Plan& plan) {
  if (switches_dimension(plan)) return 1;
  return plan.cp / head_ranks(plan);
}

std::int64_t state_shard(const Plan& plan) {
  return plan.shard_group > 0 ? plan.shard_group : plan.dp * plan.cp;
}

std::int64_t gradient_shard(const Plan& plan) {
  return plan.gradient_shard > 0 ? plan.gradient_shard : state_shard(plan);
}

std::int64_t weight_shard(const Plan& plan) {
  return plan.weight_shard > 0 ? plan.weight_shard : state_shard(plan);
}

int microbatches(const Training& training, const Plan& plan) {
  if (!plan.site_microbatches.empty()) return static_cast<int>(plan.site_microbatches.front());
  return static_cast<int>(training.global_batch / (plan.dp * plan.micro_batch));
}

std::string micro_batch_text(const Plan& plan) {
  if (plan.site_micro_batch.empty()) return std::to_string(plan.micro_batch);
  std::string out;
  for (const std::int64_t here : plan.site_micro_batch) {
    out += (out.empty() ? "" : "+") + std::to_string(here);
  }
  return out;
}

}  // namespace orrery
