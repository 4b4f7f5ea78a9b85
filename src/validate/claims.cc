#include "validate/claims.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "estimate/traffic.h"

namespace orrery {
namespace {

// As it is written: the claim, and the specifications that its figure is predicted of.
struct WrittenClaim {
  Claim claim;
  Value specification;
  std::optional<Value> than;
};

Result<WrittenClaim> read_claim(const Value& v) {
  static const Fields<Claim> kTable = Fields<Claim>("claim")
                                          .required<&Claim::strategy>("its name")
                                          .required<&Claim::source>("the paper")
                                          .required<&Claim::headline>("what the paper claims")
                                          .required<&Claim::type>("how it is judged")
                                          .optional<&Claim::not_predicted>("why it is not")
                                          .optional<&Claim::figure>("what is compared")
                                          .optional<&Claim::published>("its value")
                                          .optional<&Claim::band>("relative, stated beforehand")
                                          .optional<&Claim::configuration>("what was assumed");
  WrittenClaim out;
  Value plain = Value::map();
  plain.set_line(v.line());
  for (const auto& [key, member] : v.members()) {
    if (key == "specification") {
      out.specification = member;
    } else if (key == "than") {
      out.than = member;
    } else {
      plain.set(key, member);
    }
  }
  ORRERY_TRY(out.claim, kTable.read(plain));
  return out;
}

// Members of `over` replace or join those of `base`, maps member by member.
Value merged(const Value& base, const Value& over) {
  if (base.kind() != Value::Kind::map || over.kind() != Value::Kind::map) return over;
  Value out = base;
  for (const auto& [key, member] : over.members()) {
    const Value* known = base.find(key);
    out.set(key, known != nullptr ? merged(*known, member) : member);
  }
  return out;
}

struct ClaimedStep {
  Estimate estimate;
  Bytes sent;               // between context-parallel ranks or replicas, whichever are compared
  FlopsPerSecond causal{};  // of one accelerator, pairs under the mask
  double longest = 0;       // tokens
};

Result<PredictedStep> predicted_step(const Value& specification, const std::string& name,
                                     const Catalog& catalog) {
  ORRERY_TRY(Spec spec, read_spec(Document{name, specification}, "", catalog));
  ORRERY_RETURN_IF_ERROR(complete(spec, {}, catalog));
  return predict(std::move(spec.scenario), catalog);
}

bool compares_bytes(ClaimFigure figure) {
  return figure == ClaimFigure::context_bytes_ratio || figure == ClaimFigure::replica_bytes_ratio;
}

// What leaves an accelerator for the groups that a claim compares.
Bytes compared_bytes(const StepTraffic& sent, ClaimFigure figure) {
  Bytes out;
  for (const AxisTraffic& axis : sent.axes) {
    const auto is_of = [&](std::string_view word) {
      return axis.axis.find(word) != std::string::npos;
    };
    const bool compared = figure == ClaimFigure::replica_bytes_ratio
                              ? is_of("replicas")
                              : is_of("context") || axis.axis == "head exchange";
    if (compared) out += axis.by_level.front();
  }
  return out;
}

// From the stated length upwards, which has to fit: doubled as often as that goes, then by eighths.
Result<double> longest_sequence(Value specification, double fits, const std::string& name,
                                const Catalog& catalog) {
  const Value* stated = specification.find("training");
  Value training = stated != nullptr ? *stated : Value::map();
  const auto try_length = [&](double tokens) -> Result<bool> {
    training.set("sequence_length",
                 Value::scalar(Value::Kind::number, fmt::format("{:.0f}", tokens), 0));
    specification.set("training", training);
    ORRERY_TRY(const PredictedStep step, predicted_step(specification, name, catalog));
    const Estimate e = estimate(step);
    return std::ranges::all_of(e.stages, [](const StageReport& stage) {
      return stage.memory.peak <= stage.memory_capacity;
    });
  };
  for (double step = fits; step >= fits / 8;) {
    ORRERY_TRY(const bool longer, try_length(fits + step));
    if (longer) {
      fits += step;
      step = fits;
    } else {
      step /= 2;
    }
  }
  return fits;
}

Result<ClaimedStep> predicted(const Value& specification, const std::string& name,
                              const Claim& claim, const Catalog& catalog) {
  ORRERY_TRY(const PredictedStep step, predicted_step(specification, name, catalog));
  ClaimedStep out{.estimate = estimate(step), .sent = Bytes(0)};
  out.causal = model_flops_of_a_sequence(step, AttentionCount::causal) *
               static_cast<double>(step.training().global_batch) / out.estimate.step_time /
               out.estimate.gpus;
  if (claim.figure == ClaimFigure::longest) {
    const auto begin = static_cast<double>(step.training().sequence_length);
    ORRERY_TRY(out.longest, longest_sequence(specification, begin, name, catalog));
  }
  if (compares_bytes(*claim.figure)) {
    ORRERY_TRY(const StepTraffic sent, traffic(step));
    out.sent = compared_bytes(sent, *claim.figure);
  }
  return out;
}

double states(const Estimate& e) {
  double most = 0;
  for (const StageReport& stage : e.stages) {
    const MemoryReport& m = stage.memory;
    most = std::max(most, static_cast<double>(m.parameters + m.gradients + m.optimizer_states));
  }
  return most;
}

double peak(const Estimate& e) {
  double most = 0;
  for (const StageReport& stage : e.stages) {
    most = std::max(most, static_cast<double>(stage.memory.peak));
  }
  return most;
}

double figure_of(ClaimFigure figure, const ClaimedStep& step, const ClaimedStep* than) {
  const Estimate& own = step.estimate;
  const Estimate* base = than != nullptr ? &than->estimate : nullptr;
  switch (figure) {
    case ClaimFigure::mfu:
      return own.mfu;
    case ClaimFigure::tflops:
      return own.achieved_per_gpu.value() / 1e12;
    case ClaimFigure::causal_tflops:
      return step.causal.value() / 1e12;
    case ClaimFigure::longest:
      return step.longest;
    case ClaimFigure::tokens:
      return own.tokens_per_second / own.gpus;
    case ClaimFigure::speedup:
      return own.tokens_per_second / base->tokens_per_second;
    case ClaimFigure::states_ratio:
      return states(*base) / states(own);
    case ClaimFigure::memory_ratio:
      return peak(*base) / peak(own);
    case ClaimFigure::context_bytes_ratio:
    case ClaimFigure::replica_bytes_ratio:
      return than->sent / step.sent;
  }
  return 0;
}

bool needs_baseline(ClaimFigure figure) {
  return figure == ClaimFigure::speedup || figure == ClaimFigure::states_ratio ||
         figure == ClaimFigure::memory_ratio || compares_bytes(figure);
}

// Of a claim that is predicted: what keeps it from being judged.
Result<void> check_claim(const WrittenClaim& written, const std::string& name) {
  const Claim& claim = written.claim;
  if (!claim.figure || !(claim.published > 0) || claim.band < 0) {
    return bad_input("has no figure with a published value above 0", name,
                     "give them, or not_predicted: why");
  }
  const bool ratio = needs_baseline(*claim.figure);
  if (ratio && !written.than) return bad_input("a ratio needs a baseline", name, "give than");
  if (!ratio && written.than) {
    return bad_input("than is not used", name, "only ratios have a baseline");
  }
  if (written.than && written.than->kind() != Value::Kind::map) {
    return bad_input("than is no map of fields that differ", name,
                     "write one such as {plan: {zero: 0}}");
  }
  if (ratio && claim.type == ClaimType::loose && !(claim.published > 1)) {
    return bad_input(
        "a loose claim of a ratio compares gains, and its published value is not above 1", name,
        "swap specification and than, or make it strict");
  }
  return {};
}

std::optional<bool> holds(const Claim& c, double value) {
  const auto near = [&](double ratio) { return ratio <= 1 + c.band && ratio >= 1 / (1 + c.band); };
  switch (c.type) {
    case ClaimType::strict:
      return std::abs(value / c.published - 1) <= c.band;
    case ClaimType::upper_bound:
      return value <= c.published * (1 + c.band);
    case ClaimType::loose:
      if (!needs_baseline(*c.figure)) return near(value / c.published);
      return value > 1 && near((value - 1) / (c.published - 1));
    case ClaimType::informational:
      break;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<JudgedClaim>> judged_claims(const Document& claims, const Catalog& catalog) {
  const Value* list = claims.root.find("claims");
  if (list == nullptr || list->kind() != Value::Kind::list) {
    return bad_input("has no list 'claims'", claims.name);
  }
  std::vector<JudgedClaim> out;
  for (const Value& item : list->items()) {
    ORRERY_TRY(const WrittenClaim written, at(claims.name, read_claim(item)));
    const Claim& claim = written.claim;
    JudgedClaim judged{.claim = claim, .predicted = {}, .holds = {}};
    const std::string name = claims.name + ": " + claim.strategy;
    if (claim.not_predicted.empty()) {
      ORRERY_RETURN_IF_ERROR(check_claim(written, name));
      ORRERY_TRY(const ClaimedStep own, predicted(written.specification, name, claim, catalog));
      std::optional<ClaimedStep> base;
      if (written.than) {
        ORRERY_TRY(base,
                   predicted(merged(written.specification, *written.than), name, claim, catalog));
      }
      judged.predicted = figure_of(*claim.figure, own, base ? &*base : nullptr);
      judged.holds = holds(claim, *judged.predicted);
    } else if (written.than) {
      return bad_input("than is not used", name, "the claim is not predicted");
    }
    out.push_back(std::move(judged));
  }
  return out;
}

}  // namespace orrery
