#include "calibrate/exchange_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "calibrate/collective_measurements.h"
#include "calibrate/folds.h"
#include "calibrate/measurement_cells.h"
#include "cost/collective/token_exchange.h"

namespace orrery {
namespace {

using View = std::string_view;
constexpr std::array<View, 9> kDeepEp = {"accelerator", "num_gpus",    "hidden",
                                         "num_tokens",  "top_k",       "num_experts",
                                         "num_sms",     "dispatch_us", "combine_us"};
constexpr std::array<View, 10> kNvlink = {"accelerator", "phase",     "kernel", "dtype",
                                          "num_tokens",  "hidden",    "top_k",  "num_experts",
                                          "ep_size",     "latency_us"};
// Of kernels that first tell each other how much they send.
constexpr Seconds kLeastExchangeTime(50e-6);
constexpr double kScaledBlock = 128;  // elements that share a 4-byte scale in 8-bit dispatch
constexpr std::size_t kLeastExchanges = 16;

double bytes_of(View dtype) {
  if (dtype == "nvfp4") return 0.5 + 1.0 / 16;  // a scale for 16 elements
  return dtype == "fp8" ? 1 : 2;
}

class ExchangeReader {
 public:
  ExchangeReader(const CommaSeparated& table, const Catalog& catalog)
      : nodes_(catalog), deep_ep_(has_columns(table, kDeepEp)) {}

  std::vector<ExchangeMeasurement> read(const CommaSeparated& table,
                                        std::vector<RowProblem>& problems) {
    for_each_record(std::span(&table, 1), problems, [&](MeasurementCells cells) {
      ExchangeMeasurement m;
      m.accelerator = cells.text("accelerator");
      const MeasuredNode* node = nodes_.of(m.accelerator);
      if (node == nullptr) {
        return cells.complain("the catalog has no node that joins '" + m.accelerator + "'");
      }
      m.architecture = node->architecture;
      m.link = node->level.bandwidth * (node->level.efficiency / node->level.oversubscription);
      nominal_ = node->level.bandwidth;
      m.tokens = cells.count("num_tokens", 1, kMostSize);
      deep_ep_ ? deep_ep(cells, std::move(m)) : nvlink(cells, std::move(m));
    });
    return std::move(out_);
  }

 private:
  void deep_ep(MeasurementCells& cells, ExchangeMeasurement m) {
    m.kernel = ExchangeKernel::deep_ep;
    m.ranks = static_cast<int>(cells.count("num_gpus", 2, kMostRanks));
    m.units = cells.count("num_sms", 1, kMostSize);
    const double hidden = cells.count("hidden", 1, kMostSize);
    const double experts = cells.count("num_experts", 1, kMostSize);
    const double top_k = cells.count("top_k", 1, experts);
    const double away = cells.number("dispatch_us", 0, kMostMicroseconds);
    const double back = cells.number("combine_us", 0, kMostMicroseconds);
    m.copies = distinct_units(m.ranks, experts, top_k) * (m.ranks - 1) / m.ranks;
    add(cells, m, true, Bytes(hidden * (1 + 4 / kScaledBlock)), away);
    add(cells, m, false, Bytes(2 * hidden), back);
  }

  void nvlink(MeasurementCells& cells, ExchangeMeasurement m) {
    const View phase = cells.text("phase");
    if (phase != "alltoall-dispatch" && phase != "alltoall-combine") {
      cells.complain("phase is '" + std::string(phase) +
                     "': not alltoall-dispatch or alltoall-combine");
      return;
    }
    m.kernel = cells.text("kernel") == "NVLinkOneSided" ? ExchangeKernel::one_sided
                                                        : ExchangeKernel::two_sided;
    m.ranks = static_cast<int>(cells.count("ep_size", 2, kMostRanks));
    const double hidden = cells.count("hidden", 1, kMostSize);
    const double top_k = cells.count("top_k", 1, kMostSize);
    m.copies = std::min<double>(m.ranks, top_k) * (m.ranks - 1) / m.ranks;
    const bool away = phase == "alltoall-dispatch";
    add(cells, m, away, Bytes(hidden * (away ? bytes_of(cells.text("dtype")) : 2)),
        cells.number("latency_us", 0, kMostMicroseconds));
  }

  void add(MeasurementCells& cells, ExchangeMeasurement m, bool away, Bytes token, double us) {
    if (!cells.usable()) return;
    m.away = away;
    m.where = cells.where();
    m.token = token;
    m.time = Seconds(us * 1e-6);
    if (m.token * (m.tokens * m.copies) / m.time > nominal_) {
      cells.complain("tokens would leave faster than the links carry: wrong unit?");
      return;
    }
    if (!cells.not_too_slow(m.time,
                            m.token * (m.tokens * m.copies) / nominal_ + kLeastExchangeTime))
      return;
    m.shape = std::to_string(m.ranks) + " x " + std::to_string(m.tokens) + " x " +
              std::to_string(m.token.value());
    out_.push_back(std::move(m));
  }

  MeasuredNodes nodes_;
  bool deep_ep_;
  BytesPerSecond nominal_;
  std::vector<ExchangeMeasurement> out_;
};

Seconds predicted(const ExchangeMeasurement& m, std::span<const double> x) {
  const Bytes sent = m.token * m.tokens;
  BytesPerSecond rate = m.link * x[1];
  if (m.kernel == ExchangeKernel::deep_ep) {
    rate = std::min(rate, BytesPerSecond(x[2] * 1e9 * m.units));
    return Seconds(x[0] * 1e-6) + sent * m.copies / rate;
  }
  return Seconds(x[0] * 1e-6) +
         Seconds(std::pow(std::pow((sent * m.copies / rate).value(), 4) +
                              std::pow((sent / BytesPerSecond(x[2] * 1e9)).value(), 4),
                          0.25));
}

// Each accelerator by a fit of the others or, where there are none, as an all-to-all between pairs.
Result<std::vector<double>> predict_left_out(std::span<const ExchangeMeasurement> rows,
                                             const FitTask& task, const PairwiseParameters& pairs) {
  std::map<std::string_view, int> systems;
  std::vector<int> system_of_row;
  for (const ExchangeMeasurement& m : rows) {
    system_of_row.push_back(
        systems.try_emplace(m.accelerator, static_cast<int>(systems.size())).first->second);
  }
  if (systems.size() > 1) {
    return predict_held_out(
        system_of_row, [&](std::span<const std::size_t> fitted, std::span<const std::size_t> rest) {
          return fit_and_predict(task, fitted, {}, rest);
        });
  }
  const Seconds base = pairs.latency.base.low_latency + pairs.latency.nvlink.low_latency;
  std::vector<double> out;
  for (const ExchangeMeasurement& m : rows) {
    out.push_back((base + m.token * (m.tokens * m.copies) / (m.link * pairs.efficiency)).value());
  }
  return out;
}

}  // namespace

bool holds_exchange_measurements(const CommaSeparated& table) {
  return has_columns(table, kDeepEp) || has_columns(table, kNvlink);
}

std::vector<ExchangeMeasurement> exchange_measurements(const CommaSeparated& table,
                                                       const Catalog& catalog,
                                                       std::vector<RowProblem>& problems) {
  return ExchangeReader(table, catalog).read(table, problems);
}

Result<std::vector<CalibratedPart>> fit_exchanges(std::span<const ExchangeMeasurement> rows,
                                                  int folds, const PairwiseParameters& pairs,
                                                  TokenExchangeParameters& parameters) {
  std::vector<CalibratedPart> out;
  for (const ExchangeKernel kernel :
       {ExchangeKernel::deep_ep, ExchangeKernel::one_sided, ExchangeKernel::two_sided}) {
    for (const bool away : {true, false}) {
      std::vector<ExchangeMeasurement> own;
      for (const ExchangeMeasurement& m : rows) {
        if (m.kernel == kernel && m.away == away) own.push_back(m);
      }
      if (own.size() < kLeastExchanges) continue;
      const bool deep_ep = kernel == ExchangeKernel::deep_ep;
      const std::string name =
          std::string(deep_ep                               ? "DeepEP"
                      : kernel == ExchangeKernel::one_sided ? "NVLink, one-sided"
                                                            : "NVLink, two-sided") +
          (away ? ", dispatch" : ", combine");
      const FitTask task = fit_task(
          name,
          {{"base", "us", 30, 1, 200},
           {"efficiency", "", 0.6, 0.05, 1},
           deep_ep ? FitParameter{"unit_rate", "GB/s", 20, 1, 200}
                   : FitParameter{"local", "GB/s", 300, 20, 8000}},
          std::span<const ExchangeMeasurement>(own), &ExchangeMeasurement::time,
          [](const ExchangeMeasurement& m) { return m.shape; },
          [](std::span<const double> x) {
            return [x](const ExchangeMeasurement& m) { return predicted(m, x); };
          });
      ORRERY_TRY(CrossValidatedFit fit, cross_validated_fit(task, folds));
      if (folds > 0) {
        ORRERY_TRY(fit.left_out, predict_left_out(own, task, pairs));
        fit.judge(task.measured);
      }
      fit.add_part_of_rows("1024 tokens and more", task.measured,
                           [&](std::size_t i) { return own[i].tokens >= 1024; });
      fit.add_part_of_rows("fewer tokens", task.measured,
                           [&](std::size_t i) { return own[i].tokens < 1024; });
      const std::vector<double> x = fit.fit.values();
      TokenExchangeWay& way = away ? parameters.dispatch : parameters.combine;
      way.base = Seconds(three_digits(x[0]) / 1e6);
      way.efficiency = three_digits(x[1]);
      way.local = deep_ep ? BytesPerSecond(0) : BytesPerSecond(three_digits(x[2]) * 1e9);
      out.push_back(std::move(fit.part));
    }
  }
  return out;
}

}  // namespace orrery
