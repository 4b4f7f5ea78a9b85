#include "schedule/stated_times.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "outcome/nearest_name.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

enum class Bound { positive, not_negative };
enum class Dimension { time, plain };

struct StatedQuantity {
  std::string_view key;
  std::string_view name;
  std::vector<double> StatedTimes::* values;
  Bound bound = Bound::not_negative;
  Dimension dimension = Dimension::time;
};

constexpr std::array kQuantities = {
    StatedQuantity{"f", "forward", &StatedTimes::forward, Bound::positive},
    StatedQuantity{"b", "input_gradient", &StatedTimes::input_gradient, Bound::positive},
    StatedQuantity{"w", "weight_gradient", &StatedTimes::weight_gradient, Bound::positive},
    StatedQuantity{"bw", "backward", &StatedTimes::backward, Bound::positive},
    StatedQuantity{"fb", "forward_and_backward", &StatedTimes::forward_and_backward,
                   Bound::positive},
    StatedQuantity{"comm", "latency", &StatedTimes::latency},
    StatedQuantity{"transfer", "transfer", &StatedTimes::transfer},
    StatedQuantity{"offload", "offload", &StatedTimes::offload},
    StatedQuantity{"reload", "reload", &StatedTimes::reload},
    StatedQuantity{"s", "output_layer", &StatedTimes::output_layer},
    StatedQuantity{"t", "output_layer_gradient", &StatedTimes::output_layer_gradient},
    StatedQuantity{"i", "input_layer", &StatedTimes::input_layer},
    StatedQuantity{"g", "input_layer_gradient", &StatedTimes::input_layer_gradient},
    StatedQuantity{"broadcast", "broadcast", &StatedTimes::broadcast},
    StatedQuantity{"first_barrier", "first_barrier", &StatedTimes::first_barrier},
    StatedQuantity{"second_barrier", "second_barrier", &StatedTimes::second_barrier},
    StatedQuantity{"input_reduction", "input_reduction", &StatedTimes::input_reduction},
    StatedQuantity{"memory", "memory", &StatedTimes::memory, Bound::positive, Dimension::plain},
    StatedQuantity{"weight_memory", "weight_memory", &StatedTimes::weight_memory,
                   Bound::not_negative, Dimension::plain},
};

Result<const StatedQuantity*> find_quantity(std::string_view key) {
  std::vector<std::string> known;
  for (const StatedQuantity& q : kQuantities) {
    if (q.key == key || q.name == key) return &q;
    known.emplace_back(q.key);
  }
  return fail(ErrorCode::bad_input, "unknown time '" + std::string(key) + "'", "",
              name_hint(key, known));
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
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool plain = error == std::errc() && end == text.data() + text.size();
    if (!plain || !std::isfinite(value)) {
      if (quantity.dimension == Dimension::plain) {
        return fail(ErrorCode::bad_input, "'" + std::string(text) + "' is not a number");
      }
      ORRERY_TRY(const Seconds seconds, parse_seconds(text));
      value = seconds.value();
    }
    const bool too_low = quantity.bound == Bound::positive ? !(value > 0) : !(value >= 0);
    if (too_low) {
      return fail(ErrorCode::bad_input,
                  "'" + std::string(text) + "' is " +
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
      return fail(ErrorCode::bad_input, "some times have a unit and some have none", "",
                  "write all as f=18.5ms or all as f=1");
    }
    stated_.in_seconds = any_seconds_;
    const bool backward = !stated_.backward.empty() ||
                          (!stated_.input_gradient.empty() && !stated_.weight_gradient.empty());
    if (any_seconds_ && (stated_.forward.empty() || !backward)) {
      return fail(ErrorCode::bad_input, "times in seconds leave out f, b or w", "",
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
      return fail(ErrorCode::bad_input, "'" + std::string(part) + "' is no time", "times",
                  "write f=1,b=1,w=1,comm=0");
    }
    const std::string key(trimmed(part.substr(0, equals)));
    const auto quantity = find_quantity(key);
    if (!quantity) return fail(at("times", quantity.error()));
    if (out.has(**quantity)) {
      return fail(ErrorCode::bad_input, "'" + key + "' is given twice", "times");
    }
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
  auto done = out.done();
  if (!done) return fail(at("times", done.error()));
  return done;
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
  auto done = out.done();
  if (!done) return fail(at(document.name, done.error()));
  return done;
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

// Unscaled numbers, by virtual stage or boundary.
class Spread {
 public:
  Spread(const PipelineShape& shape, TimesOf of) : shape_(shape), of_(of) {}

  // One number for each virtual stage; `otherwise` if none is stated.
  Result<std::vector<double>> over_stages(const char* key, const std::vector<double>& stated,
                                          double otherwise) const {
    const auto stages = static_cast<std::size_t>(shape_.virtual_stages());
    const auto chunks = static_cast<std::size_t>(shape_.chunks);
    const double share = of_ == TimesOf::device ? 1.0 / shape_.chunks : 1.0;
    if (stated.size() < 2) {
      return std::vector<double>(stages, (stated.empty() ? otherwise : stated[0]) * share);
    }
    const std::size_t parts = of_ == TimesOf::device ? stages / chunks : stages;
    if (stated.size() != parts) {
      return fail(ErrorCode::bad_input,
                  std::to_string(stated.size()) + " numbers for " + std::to_string(parts) +
                      (of_ == TimesOf::device ? " devices" : " virtual stages"),
                  std::string("times: ") + key, "one for all, or one for each");
    }
    std::vector<double> out(stages);
    for (std::size_t s = 0; s < stages; ++s) out[s] = stated[s * parts / stages] * share;
    return out;
  }
  Result<std::vector<double>> over_boundaries(const char* key,
                                              const std::vector<double>& stated) const {
    const auto devices = static_cast<std::size_t>(shape_.devices);
    if (stated.size() < 2) return std::vector<double>(devices, stated.empty() ? 0 : stated[0]);
    if (stated.size() != devices && stated.size() + 1 != devices) {
      return fail(ErrorCode::bad_input,
                  std::to_string(stated.size()) + " numbers for " + std::to_string(devices - 1) +
                      " boundaries between devices",
                  std::string("times: ") + key, "one for all, or one for each");
    }
    std::vector<double> out = stated;
    if (out.size() < devices) out.push_back(*std::max_element(out.begin(), out.end()));
    return out;
  }

 private:
  PipelineShape shape_;
  TimesOf of_;
};

struct UnscaledTimes {
  std::vector<double> forward, input_gradient, weight_gradient, backward, forward_and_backward;
  std::vector<double> latency, transfer, offload, reload, memory, weight_memory;
};

Result<UnscaledTimes> spread(const StatedTimes& t, const Spread& over) {
  UnscaledTimes out;
  ORRERY_TRY(out.forward, over.over_stages("f", t.forward, 1));
  ORRERY_TRY(out.input_gradient, over.over_stages("b", t.input_gradient, 1));
  ORRERY_TRY(out.weight_gradient, over.over_stages("w", t.weight_gradient, 1));
  ORRERY_TRY(out.backward, over.over_stages("bw", t.backward, 0));
  ORRERY_TRY(out.forward_and_backward, over.over_stages("fb", t.forward_and_backward, 0));
  ORRERY_TRY(out.latency, over.over_boundaries("comm", t.latency));
  ORRERY_TRY(out.transfer, over.over_boundaries("transfer", t.transfer));
  ORRERY_TRY(out.offload, over.over_stages("offload", t.offload, 0));
  ORRERY_TRY(out.reload, over.over_stages("reload", t.reload, 0));
  ORRERY_TRY(out.memory, over.over_stages("memory", t.memory, 1));
  ORRERY_TRY(out.weight_memory, over.over_stages("weight_memory", t.weight_memory, 1));
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
      return fail(ErrorCode::bad_input, "b or w alone takes the whole time of the fused backward",
                  "times: bw", "state both b and w");
    }
    if (t.forward_and_backward.empty()) {
      out.forward_and_backward[s] = out.forward[s] + out.backward[s];
    }
  }
  return out;
}

double one_of(const std::vector<double>& stated) { return stated.empty() ? 0 : stated[0]; }

double longest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

Result<ScaledTimes> scaled_times(const StatedTimes& t, const PipelineShape& shape, TimesOf of) {
  if (shape.devices < 1 || shape.microbatches < 1 || shape.chunks < 1 ||
      static_cast<double>(shape.devices) * shape.chunks > 1 << 24) {
    return fail(ErrorCode::bad_input, "the pipeline has no shape that can be simulated");
  }
  for (const StatedQuantity& q : kQuantities) {
    const bool one =
        q.values == &StatedTimes::output_layer || q.values == &StatedTimes::output_layer_gradient ||
        q.values == &StatedTimes::input_layer || q.values == &StatedTimes::input_layer_gradient ||
        q.values == &StatedTimes::broadcast || q.values == &StatedTimes::first_barrier ||
        q.values == &StatedTimes::second_barrier || q.values == &StatedTimes::input_reduction;
    if (one && (t.*q.values).size() > 1) {
      return fail(ErrorCode::bad_input, "one number is for all devices, not a list",
                  "times: " + std::string(q.key));
    }
  }
  ORRERY_TRY(const UnscaledTimes u, spread(t, Spread(shape, of)));

  // No step is longer than all operations one after the other.
  double longest_step = 0;
  for (std::size_t s = 0; s < u.forward.size(); ++s) {
    longest_step += u.forward[s] + u.input_gradient[s] + u.weight_gradient[s] + u.backward[s] +
                    u.forward_and_backward[s] + u.offload[s] + u.reload[s] +
                    4 * (longest(u.latency) + longest(u.transfer));
  }
  longest_step += shape.devices * (one_of(t.output_layer) + one_of(t.output_layer_gradient) +
                                   one_of(t.input_layer) + one_of(t.input_layer_gradient));
  longest_step += one_of(t.broadcast) + one_of(t.first_barrier) + one_of(t.second_barrier) +
                  one_of(t.input_reduction);
  longest_step *= shape.microbatches;
  ScaledTimes out;
  out.unit.seconds = t.in_seconds;
  double one = t.in_seconds ? 1e12 : 1e9;
  while (!t.in_seconds && one > 1 && longest_step * one > kLongestStep.count()) one /= 10;
  if (!(longest_step * one <= kLongestStep.count())) {
    return fail(ErrorCode::bad_input, "the times make a step that is too long to be simulated",
                "times", t.in_seconds ? "at most 2.5 hours in all" : "divide all by one number");
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
  times.vocabulary = {scaled(one_of(t.output_layer)),   scaled(one_of(t.output_layer_gradient)),
                      scaled(one_of(t.input_layer)),    scaled(one_of(t.input_layer_gradient)),
                      scaled(one_of(t.broadcast)),      scaled(one_of(t.first_barrier)),
                      scaled(one_of(t.second_barrier)), scaled(one_of(t.input_reduction))};
  if (too_short) {
    return fail(ErrorCode::bad_input,
                "a time is too short to be simulated together with the others", "times",
                t.in_seconds ? "at least a nanosecond" : "");
  }
  return out;
}

}  // namespace orrery
