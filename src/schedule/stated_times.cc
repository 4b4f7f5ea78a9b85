#include "schedule/stated_times.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

enum class Bound { positive, not_negative };
enum class Dimension { time, plain };
enum class Of { stage, boundary, pipeline };

struct StatedQuantity {
  std::string_view key;
  std::string_view name;
  std::vector<double> StatedTimes::* values;
  Of of;
  Bound bound = Bound::not_negative;
  double otherwise = 0;  // if it is not stated
  Dimension dimension = Dimension::time;
};

using S = StatedTimes;
constexpr auto kQuantities = std::to_array<StatedQuantity>({
    {"f", "forward", &S::forward, Of::stage, Bound::positive, 1},
    {"b", "input_gradient", &S::input_gradient, Of::stage, Bound::positive, 1},
    {"w", "weight_gradient", &S::weight_gradient, Of::stage, Bound::positive, 1},
    {"bw", "backward", &S::backward, Of::stage, Bound::positive},
    {"fb", "forward_and_backward", &S::forward_and_backward, Of::stage, Bound::positive},
    {"comm", "latency", &S::latency, Of::boundary},
    {"transfer", "transfer", &S::transfer, Of::boundary},
    {"offload", "offload", &S::offload, Of::stage},
    {"reload", "reload", &S::reload, Of::stage},
    {"s", "output_layer", &S::output_layer, Of::pipeline},
    {"t", "output_layer_gradient", &S::output_layer_gradient, Of::pipeline},
    {"i", "input_layer", &S::input_layer, Of::pipeline},
    {"g", "input_layer_gradient", &S::input_layer_gradient, Of::pipeline},
    {"broadcast", "broadcast", &S::broadcast, Of::pipeline},
    {"first_barrier", "first_barrier", &S::first_barrier, Of::pipeline},
    {"second_barrier", "second_barrier", &S::second_barrier, Of::pipeline},
    {"input_reduction", "input_reduction", &S::input_reduction, Of::pipeline},
    {"memory", "memory", &S::memory, Of::stage, Bound::positive, 1, Dimension::plain},
    {"weight_memory", "weight_memory", &S::weight_memory, Of::stage, Bound::not_negative, 1,
     Dimension::plain},
});

Result<const StatedQuantity*> find_quantity(std::string_view key) {
  std::vector<std::string> known;
  for (const StatedQuantity& q : kQuantities) {
    if (q.key == key || q.name == key) return &q;
    known.emplace_back(q.key);
  }
  return bad_input("unknown time '" + std::string(key) + "'", "", name_hint(key, known));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Collects what is stated and sees that all of it has units, or none.
class Collector {
 public:
  Result<void> add(const StatedQuantity& quantity, std::string_view raw) {
    const std::string_view text = trimmed(raw);
    const auto number = parsed_number<double>(text);
    const bool plain = number.has_value();
    double value = number.value_or(0);
    if (!plain || !std::isfinite(value)) {
      if (quantity.dimension == Dimension::plain) {
        return bad_input("'" + std::string(text) + "' is not a number");
      }
      const auto seconds = parse_seconds(text);
      if (!seconds) {
        return bad_input(seconds.error().message, "", R"(write a time such as "18.5 ms")");
      }
      value = seconds->value();
    }
    const bool too_low = quantity.bound == Bound::positive ? !(value > 0) : !(value >= 0);
    if (too_low) {
      return bad_input("'" + std::string(text) + "' is " +
                       (quantity.bound == Bound::positive ? "not above zero" : "negative"));
    }
    // Nothing takes no time in any unit.
    if (quantity.dimension == Dimension::time && value != 0) {
      (plain ? any_plain_ : any_seconds_) = true;
    }
    (stated_.*quantity.values).push_back(value == 0 ? 0 : value);
    return {};
  }
  [[nodiscard]] bool has(const StatedQuantity& quantity) const {
    return !(stated_.*quantity.values).empty();
  }
  Result<StatedTimes> done() {
    if (any_plain_ && any_seconds_) {
      return bad_input("some times have a unit and some have none", "",
                       "write all as f=18.5ms or all as f=1");
    }
    stated_.in_seconds = any_seconds_;
    const bool backward = !stated_.backward.empty() ||
                          (!stated_.input_gradient.empty() && !stated_.weight_gradient.empty());
    if (any_seconds_ && (stated_.forward.empty() || !backward)) {
      return bad_input("times in seconds leave out f, b or w", "",
                       "write f=18.5ms,b=18.1ms,w=9.3ms, or bw=27.4ms for a fused backward");
    }
    return std::move(stated_);
  }

 private:
  StatedTimes stated_;
  bool any_plain_ = false;
  bool any_seconds_ = false;
};

}  // namespace

Result<StatedTimes> parse_stated_times(std::string_view text) {
  Collector out;
  std::string_view rest = text;
  while (!trimmed(rest).empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return bad_input("'" + std::string(part) + "' is not a time", "times",
                       "write f=1,b=1,w=1,comm=0");
    }
    const std::string key(trimmed(part.substr(0, equals)));
    const auto quantity = find_quantity(key);
    if (!quantity) return fail(at("times", quantity.error()));
    if (out.has(**quantity)) return bad_input("'" + key + "' is given twice", "times");
    std::string_view values = part.substr(equals + 1);
    for (bool more = true; more;) {
      const std::size_t colon = values.find(':');
      more = colon != std::string_view::npos;
      if (auto r = out.add(**quantity, values.substr(0, colon)); !r) {
        return fail(at("times", at(key, r.error())));
      }
      if (more) values.remove_prefix(colon + 1);
    }
  }
  return at("times", out.done());
}

Result<StatedTimes> read_stated_times(const Document& document) {
  const auto place = [&](const Value& v, const std::string& key, Error error) {
    std::string where = v.line() > 0 ? "line " + std::to_string(v.line()) : "";
    if (!key.empty()) where += (where.empty() ? "" : ", ") + key;
    return at(document.name, at(std::move(where), std::move(error)));
  };
  if (document.root.kind() != Value::Kind::map) {
    return fail(place(document.root, "",
                      {ErrorCode::bad_input, "expected a map of times", "", "forward: 18.5 ms"}));
  }
  Collector out;
  for (const auto& [key, value] : document.root.members()) {
    const auto quantity = find_quantity(key);
    if (!quantity) return fail(place(value, "", quantity.error()));
    if (out.has(**quantity)) {
      return fail(place(value, key, {ErrorCode::bad_input, "is given twice", "", ""}));
    }
    const bool list = value.kind() == Value::Kind::list;
    if (value.kind() == Value::Kind::map || (list && value.items().empty())) {
      return fail(
          place(value, key, {ErrorCode::bad_input, "expected a time or a list of times", "", ""}));
    }
    for (const Value& item : list ? value.items() : std::vector<Value>{value}) {
      if (!item.is_scalar()) {
        return fail(place(item, key, {ErrorCode::bad_input, "expected a time", "", ""}));
      }
      if (auto r = out.add(**quantity, item.scalar_text()); !r) {
        return fail(place(item, key, r.error()));
      }
    }
  }
  return at(document.name, out.done());
}

std::string to_text(const StatedTimes& times) {
  std::string out;
  for (const StatedQuantity& q : kQuantities) {
    const std::vector<double>& values = times.*q.values;
    if (values.empty()) continue;
    out += (out.empty() ? "" : ",") + std::string(q.key) + "=";
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::array<char, 32> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), values[i]).ptr;
      out += (i > 0 ? ":" : "") + std::string(digits.data(), end);
      if (times.in_seconds && q.dimension == Dimension::time && values[i] != 0) out += "s";
    }
  }
  return out;
}

namespace {

// One number for each virtual stage.
Result<std::vector<double>> over_stages(const StatedQuantity& q, const std::vector<double>& stated,
                                        const PipelineShape& shape, TimesOf of) {
  const auto stages = static_cast<std::size_t>(shape.virtual_stages());
  const double share = of == TimesOf::device ? 1.0 / shape.chunks : 1.0;
  if (stated.size() < 2) {
    return std::vector<double>(stages, (stated.empty() ? q.otherwise : stated[0]) * share);
  }
  const std::size_t parts =
      of == TimesOf::device ? static_cast<std::size_t>(shape.devices) : stages;
  if (stated.size() != parts) {
    return bad_input(std::to_string(stated.size()) + " numbers for " + std::to_string(parts) +
                         (of == TimesOf::device ? " devices" : " virtual stages"),
                     "times: " + std::string(q.key), "one for all, or one for each");
  }
  std::vector<double> out(stages);
  for (std::size_t s = 0; s < stages; ++s) out[s] = stated[s * parts / stages] * share;
  return out;
}

// One number for each boundary, the last one between the last device and the first.
Result<std::vector<double>> over_boundaries(const StatedQuantity& q,
                                            const std::vector<double>& stated,
                                            const PipelineShape& shape) {
  const auto devices = static_cast<std::size_t>(shape.devices);
  if (stated.size() < 2) {
    return std::vector<double>(devices, stated.empty() ? q.otherwise : stated[0]);
  }
  if (stated.size() != devices && stated.size() + 1 != devices) {
    return bad_input(std::to_string(stated.size()) + " numbers for " + std::to_string(devices - 1) +
                         " boundaries between devices",
                     "times: " + std::string(q.key), "one for all, or one for each");
  }
  std::vector<double> out = stated;
  if (out.size() < devices) out.push_back(*std::ranges::max_element(out));
  return out;
}

// Every quantity in full: with as many numbers as it has virtual stages or boundaries, or one.
Result<StatedTimes> in_full(const StatedTimes& t, const PipelineShape& shape, TimesOf of) {
  StatedTimes out;
  for (const StatedQuantity& q : kQuantities) {
    if (q.of == Of::pipeline && (t.*q.values).size() > 1) {
      return bad_input("one number is for all devices, not a list", "times: " + std::string(q.key));
    }
  }
  for (const StatedQuantity& q : kQuantities) {
    const std::vector<double>& stated = t.*q.values;
    if (q.of == Of::stage) {
      ORRERY_TRY(out.*q.values, over_stages(q, stated, shape, of));
    } else if (q.of == Of::boundary) {
      ORRERY_TRY(out.*q.values, over_boundaries(q, stated, shape));
    } else {
      (out.*q.values).push_back(stated.empty() ? q.otherwise : stated[0]);
    }
  }
  if (t.weight_memory.empty()) out.weight_memory = out.memory;
  for (std::size_t s = 0; s < out.forward.size(); ++s) {
    double& b = out.input_gradient[s];
    double& w = out.weight_gradient[s];
    if (t.backward.empty()) {
      out.backward[s] = b + w;
    } else if (t.input_gradient.empty() && t.weight_gradient.empty()) {
      b = w = out.backward[s] / 2;
    } else if (t.weight_gradient.empty()) {
      w = out.backward[s] - b;
    } else if (t.input_gradient.empty()) {
      b = out.backward[s] - w;
    }
    if (!(b > 0) || !(w > 0)) {
      return bad_input("b or w alone takes the whole time of the fused backward", "times: bw",
                       "state both b and w");
    }
    if (t.forward_and_backward.empty()) {
      out.forward_and_backward[s] = out.forward[s] + out.backward[s];
    }
  }
  return out;
}

}  // namespace

Result<ScaledTimes> scaled_times(const StatedTimes& t, const PipelineShape& shape, TimesOf of,
                                 Picoseconds largest) {
  if (shape.devices < 1 || shape.microbatches < 1 || shape.chunks < 1 ||
      static_cast<double>(shape.devices) * shape.chunks > 1 << 24) {
    return bad_input("the pipeline has no shape that can be simulated");
  }
  ORRERY_TRY(const StatedTimes u, in_full(t, shape, of));

  // No step is longer than all operations one after the other.
  double longest_step = 0;
  const double way =
      4 * (*std::ranges::max_element(u.latency) + *std::ranges::max_element(u.transfer));
  for (std::size_t s = 0; s < u.forward.size(); ++s) {
    longest_step += u.forward[s] + u.input_gradient[s] + u.weight_gradient[s] + u.backward[s] +
                    u.forward_and_backward[s] + u.offload[s] + u.reload[s] + way;
  }
  longest_step += shape.devices * (u.output_layer[0] + u.output_layer_gradient[0] +
                                   u.input_layer[0] + u.input_layer_gradient[0]);
  longest_step += u.broadcast[0] + u.first_barrier[0] + u.second_barrier[0] + u.input_reduction[0];
  longest_step *= shape.microbatches;
  ScaledTimes out;
  out.unit.seconds = t.in_seconds;
  double one = std::min(t.in_seconds ? 1e12 : 1e9, largest.count());
  while (!t.in_seconds && one > 1 && longest_step * one > kLongestExact.count()) one /= 10;
  if (!(longest_step * one <= kLongestExact.count())) {
    return bad_input("the times make a step that is too long to be simulated", "times",
                     t.in_seconds ? "at most 2.5 hours in all" : "divide all by one number");
  }
  out.unit.one = Picoseconds(one);

  bool too_short = false;
  const auto scaled = [&](double value) {
    const double count = std::nearbyint(value * one);
    // A part in a thousand is more than rounding may change.
    if (value > 0 && std::abs(count - value * one) > 1e-3 * count) too_short = true;
    return Picoseconds(count);
  };
  PipelineTimes& times = out.times;
  for (std::size_t s = 0; s < u.forward.size(); ++s) {
    times.stage.push_back({scaled(u.forward[s]), scaled(u.input_gradient[s]),
                           scaled(u.weight_gradient[s]), scaled(u.backward[s]),
                           scaled(u.forward_and_backward[s]), scaled(u.offload[s]),
                           scaled(u.reload[s])});
    times.memory.push_back({u.memory[s], u.weight_memory[s]});
  }
  for (const double latency : u.latency) times.latency.push_back(scaled(latency));
  for (const double transfer : u.transfer) times.transfer.push_back(scaled(transfer));
  times.vocabulary = {scaled(u.output_layer[0]),   scaled(u.output_layer_gradient[0]),
                      scaled(u.input_layer[0]),    scaled(u.input_layer_gradient[0]),
                      scaled(u.broadcast[0]),      scaled(u.first_barrier[0]),
                      scaled(u.second_barrier[0]), scaled(u.input_reduction[0])};
  if (too_short) {
    return bad_input("a time is too short to be simulated together with the others", "times",
                     t.in_seconds ? "at least a nanosecond" : "");
  }
  return out;
}

}  // namespace orrery
