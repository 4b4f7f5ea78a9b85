#include "fleet/fleet_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

constexpr double kUsualDays = 30;
constexpr double kGpuHour = 3.6e6;                   // GPU x ms
constexpr double kMostFleetFailures = 1e7;           // of a simulation
constexpr std::int64_t kMostSimulated = 30'000'000;  // jobs of all simulations

struct Setting {
  Scheduler scheduler;
  Estimates estimates;
};

template <class T>
double total(const FleetOutcome& o, T SizeOutcome::* member) {
  double sum = 0;
  for (const SizeOutcome& s : o.sizes) sum += static_cast<double>(s.*member);
  return sum;
}
double mean_of_all(const FleetOutcome& o, std::vector<float> SizeOutcome::* member) {
  double sum = 0;
  std::size_t count = 0;
  for (const SizeOutcome& s : o.sizes) {
    sum = std::accumulate((s.*member).begin(), (s.*member).end(), sum);
    count += (s.*member).size();
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}
double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double allocated(const FleetOutcome& o) {
  return total(o, &SizeOutcome::productive) + total(o, &SizeOutcome::rework) +
         total(o, &SizeOutcome::restart);
}
double capacity(const FleetOutcome& o) {
  return allocated(o) + static_cast<double>(o.idle) + static_cast<double>(o.down);
}

template <class F>
SeedSpread over_seeds(std::span<const FleetOutcome> outcomes, const F& figure) {
  SeedSpread out{.least = INFINITY, .most = -INFINITY};
  for (const FleetOutcome& o : outcomes) {
    const double value = figure(o);
    out.mean += value / static_cast<double>(outcomes.size());
    out.least = std::min(out.least, value);
    out.most = std::max(out.most, value);
  }
  return out;
}

Seconds quantile(std::vector<float>& sorted, double p) {
  if (sorted.empty()) return {};
  const auto at = static_cast<std::size_t>(p * static_cast<double>(sorted.size()));
  return Seconds(sorted[std::min(at, sorted.size() - 1)]);
}

FleetSize size_over_seeds(std::size_t size, std::span<FleetOutcome> outcomes, double all) {
  FleetSize out;
  out.least = size == 0 ? 1 : (std::int64_t{1} << (size - 1)) + 1;
  out.most = std::int64_t{1} << size;
  SizeOutcome& sum = out.sum;
  for (FleetOutcome& o : outcomes) {
    SizeOutcome& s = o.sizes[size];
    for (const auto member :
         {&SizeOutcome::submitted, &SizeOutcome::started, &SizeOutcome::ended,
          &SizeOutcome::failures, &SizeOutcome::preempted, &SizeOutcome::second_order,
          &SizeOutcome::productive, &SizeOutcome::rework, &SizeOutcome::restart,
          &SizeOutcome::rule_first, &SizeOutcome::rule_second, &SizeOutcome::lost_first,
          &SizeOutcome::lost_second}) {
      sum.*member += s.*member;
    }
    sum.ended_wall += s.ended_wall;
    sum.ended_work += s.ended_work;
    for (const auto member : {&SizeOutcome::queue_s, &SizeOutcome::completion_s}) {
      (sum.*member).insert((sum.*member).end(), (s.*member).begin(), (s.*member).end());
      s.*member = {};
    }
  }
  std::ranges::sort(sum.queue_s);
  std::ranges::sort(sum.completion_s);
  out.gpu_time = ratio(static_cast<double>(sum.productive + sum.rework + sum.restart), all);
  out.queue_p50 = quantile(sum.queue_s, 0.5);
  out.queue_p95 = quantile(sum.queue_s, 0.95);
  out.completion_p50 = quantile(sum.completion_s, 0.5);
  out.completion_mean =
      Seconds(ratio(std::accumulate(sum.completion_s.begin(), sum.completion_s.end(), 0.0),
                    static_cast<double>(sum.completion_s.size())));
  out.ettr = ratio(sum.ended_work, sum.ended_wall);
  return out;
}

void summarize_fleet(FleetForecast& out, std::span<FleetOutcome> outcomes) {
  const auto by_day = [&](std::int64_t SizeOutcome::* first, std::int64_t SizeOutcome::* second) {
    return over_seeds(outcomes, [&](const FleetOutcome& o) {
      return (total(o, first) + total(o, second)) / kGpuHour /
             (static_cast<double>(o.wall_ms) / 8.64e7);
    });
  };
  const auto second_share = [&](std::int64_t SizeOutcome::* first,
                                std::int64_t SizeOutcome::* second) {
    return over_seeds(outcomes, [&](const FleetOutcome& o) {
      return ratio(total(o, second), total(o, first) + total(o, second));
    });
  };
  out.utilisation =
      over_seeds(outcomes, [](const FleetOutcome& o) { return ratio(allocated(o), capacity(o)); });
  out.goodput = over_seeds(outcomes, [](const FleetOutcome& o) {
    return ratio(total(o, &SizeOutcome::productive), capacity(o));
  });
  out.ettr = over_seeds(outcomes, [](const FleetOutcome& o) {
    return ratio(total(o, &SizeOutcome::ended_work), total(o, &SizeOutcome::ended_wall));
  });
  out.queue_s = over_seeds(
      outcomes, [](const FleetOutcome& o) { return mean_of_all(o, &SizeOutcome::queue_s); });
  out.completion_s = over_seeds(
      outcomes, [](const FleetOutcome& o) { return mean_of_all(o, &SizeOutcome::completion_s); });
  out.lost_by_rule = by_day(&SizeOutcome::rule_first, &SizeOutcome::rule_second);
  out.lost = by_day(&SizeOutcome::lost_first, &SizeOutcome::lost_second);
  out.second_order_by_rule = second_share(&SizeOutcome::rule_first, &SizeOutcome::rule_second);
  out.second_order = second_share(&SizeOutcome::lost_first, &SizeOutcome::lost_second);
  double all = 0;
  double used = 0;
  double attempts = 0;
  for (const FleetOutcome& o : outcomes) {
    all += capacity(o);
    used += allocated(o);
    out.days += static_cast<double>(o.wall_ms) / 8.64e7 / static_cast<double>(outcomes.size());
    out.productive += total(o, &SizeOutcome::productive);
    out.rework += total(o, &SizeOutcome::rework);
    out.restarting += total(o, &SizeOutcome::restart);
    out.idle += static_cast<double>(o.idle);
    out.down += static_cast<double>(o.down);
    out.jobs_of_a_seed += total(o, &SizeOutcome::submitted) / static_cast<double>(outcomes.size());
    for (std::size_t e = 0; e < kJobEnds; ++e) {
      out.ends[e] += static_cast<double>(o.ends[e]);
      attempts += static_cast<double>(o.ends[e]);
    }
  }
  for (double* part : {&out.productive, &out.rework, &out.restarting, &out.idle, &out.down}) {
    *part = ratio(*part, all);
  }
  for (double& end : out.ends) end = ratio(end, attempts);
  out.gpu_hours = all / kGpuHour;
  for (std::size_t s = 0; s < kJobSizes; ++s) {
    FleetSize size = size_over_seeds(s, outcomes, used);
    if (size.sum.submitted > 0) out.sizes.push_back(std::move(size));
  }
}

SchedulerResult result_of(Setting setting, std::span<const FleetOutcome> outcomes,
                          std::span<const FleetOutcome> with_means) {
  const auto completion = [](const FleetOutcome& o) {
    return mean_of_all(o, &SizeOutcome::completion_s);
  };
  SchedulerResult out;
  out.scheduler = setting.scheduler;
  out.estimates = setting.estimates;
  out.utilisation =
      over_seeds(outcomes, [](const FleetOutcome& o) { return ratio(allocated(o), capacity(o)); });
  out.queue_s = over_seeds(
      outcomes, [](const FleetOutcome& o) { return mean_of_all(o, &SizeOutcome::queue_s); });
  out.completion_s = over_seeds(outcomes, completion);
  out.ratio = over_seeds(outcomes, [&](const FleetOutcome& o) {
    return ratio(completion(o),
                 completion(with_means[static_cast<std::size_t>(&o - outcomes.data())]));
  });
  out.ended = over_seeds(outcomes, [](const FleetOutcome& o) {
    return ratio(total(o, &SizeOutcome::ended), total(o, &SizeOutcome::submitted));
  });
  return out;
}

// The mix, with what the question says otherwise.
Result<JobMix> mix_of(const FleetQuestion& q, const Catalog& catalog) {
  auto known = load_job_mix(catalog, q.mix);
  if (!known) return fail(at("fleet.mix", known.error()));
  JobMix mix = std::move(*known);
  const std::int64_t gpus = q.gpus_per_node.value_or(mix.gpus_per_node);
  const std::int64_t nodes = q.nodes.value_or(mix.nodes);
  // As much work for a GPU as in the mix.
  mix.jobs_a_day *= static_cast<double>(nodes) * static_cast<double>(gpus) /
                    (static_cast<double>(mix.nodes) * static_cast<double>(mix.gpus_per_node));
  mix.nodes = nodes;
  mix.gpus_per_node = gpus;
  if (!q.failures.empty()) mix.failures = q.failures;
  if (!q.restart.empty()) mix.restart = q.restart;
  mix.checkpoint = q.checkpoint.value_or(mix.checkpoint);
  mix.preempt_after = q.preempt_after.value_or(mix.preempt_after);
  mix.uncertainty = q.uncertainty.value_or(mix.uncertainty);
  mix.repair = q.repair.value_or(mix.repair);
  if (auto sound = check(mix); !sound) return fail(at("fleet", sound.error()));
  if (q.seeds < 1 || q.seeds > kMostSeeds) {
    return bad_input(fmt::format("{} seeds", q.seeds), "fleet.seeds",
                     fmt::format("write 1 to {}", kMostSeeds));
  }
  if (q.days && !(*q.days >= kLeastFleetDays && *q.days <= kMostFleetDays)) {
    return bad_input(fmt::format("{} days", *q.days), "fleet.days",
                     fmt::format("write at least a minute (0.0007), at most {}", kMostFleetDays));
  }
  return mix;
}

std::vector<std::string> fleet_assumptions(const FleetForecast& f) {
  const JobMix& m = f.mix;
  std::vector<std::string> out;
  if (f.jobs.empty()) {
    out.push_back(fmt::format("{:.0f} jobs a day of the sizes and durations of {}: {}",
                              m.jobs_a_day, m.name, m.provenance.source));
    out.push_back(
        fmt::format("the logarithm of a run time is uncertain by {:g} to {:g} before the job runs",
                    m.uncertainty.least, m.uncertainty.most));
    for (const JobClass& c : m.classes) {
      if (c.gpus > m.nodes * m.gpus_per_node) {
        out.push_back(fmt::format("no jobs of {} GPUs: they are larger than the cluster", c.gpus));
      }
    }
  }
  out.push_back(f.failures.per_1000_node_days > 0
                    ? fmt::format("{:.3g} failures per 1,000 node-days: {}",
                                  f.failures.per_1000_node_days, f.failures.name)
                    : "no failures");
  out.push_back("repairs: " + in_words(m.repair));
  out.push_back("restarts: " + f.restart);
  out.push_back(fmt::format("work is kept every {}; saves take no time", to_text(m.checkpoint)));
  out.push_back(fmt::format("an attempt is safe from preemption for {}", to_text(m.preempt_after)));
  out.push_back(fmt::format("a killed job is queued again after {}", to_text(m.requeue_after)));
  out.push_back("the cluster begins empty");
  return out;
}

}  // namespace

Fields<FleetQuestion> fields_of(const FleetQuestion*) {
  return Fields<FleetQuestion>("fleet")
      .optional<&FleetQuestion::mix>("name in the catalog's job-mixes")
      .optional<&FleetQuestion::jobs>("CSV file of jobs, in place of drawn ones")
      .optional<&FleetQuestion::nodes>("of the cluster")
      .optional<&FleetQuestion::gpus_per_node>("accelerators of a node")
      .optional<&FleetQuestion::days>("to simulate")
      .optional<&FleetQuestion::scheduler>("which order jobs start in")
      .optional<&FleetQuestion::estimates>("what the scheduler knows of run times")
      .optional<&FleetQuestion::failures>("name in the catalog's failures")
      .optional<&FleetQuestion::restart>("name in the catalog's restarts")
      .optional<&FleetQuestion::checkpoint>("work between two")
      .optional<&FleetQuestion::preempt_after>("an attempt cannot be preempted before")
      .optional<&FleetQuestion::uncertainty>("how far run times are known")
      .optional<&FleetQuestion::repair>("until a failed node is back")
      .optional<&FleetQuestion::seeds>("simulations, each with its own random numbers")
      .optional<&FleetQuestion::seed>("of the random numbers");
}

Result<FleetForecast> forecast_fleet(const FleetQuestion& question, const Catalog& catalog,
                                     const FleetRunOptions& options) {
  ORRERY_TRY(JobMix mix, mix_of(question, catalog));
  FleetForecast out;
  out.mix = mix;
  out.scheduler = question.scheduler;
  out.estimates = question.estimates;
  out.restart = mix.restart;
  out.seeds = question.seeds;
  out.seed = question.seed;
  ORRERY_TRY(out.failures, at("fleet.failures", load_failure_rates(catalog, mix.failures)));
  auto restart = load_restart_times(catalog, mix.restart);
  if (!restart) return fail(at("fleet.restart", restart.error()));

  FleetModel model{.nodes = mix.nodes,
                   .gpus_per_node = mix.gpus_per_node,
                   .failure_rate = rate_of_node(out.failures, mix.gpus_per_node),
                   .gaps = out.failures.gaps,
                   .lemons = out.failures.lemons,
                   .node_share = node_share(out.failures),
                   .repair = mix.repair,
                   .restart = std::move(*restart),
                   .checkpoint = mix.checkpoint,
                   .preempt_after = mix.preempt_after,
                   .requeue_after = mix.requeue_after};
  JobList list;
  if (!question.jobs.empty()) {
    ORRERY_TRY(list, read_job_list(question.jobs));
    out.jobs = list.name;
    const auto largest = std::ranges::max_element(list.jobs, {}, &FleetJob::gpus);
    if (largest->gpus > mix.nodes * mix.gpus_per_node) {
      return bad_input(fmt::format("a job of {} GPUs, and the cluster has {}", largest->gpus,
                                   mix.nodes * mix.gpus_per_node),
                       list.name, "write a larger --nodes");
    }
  }
  model.days = question.days.value_or(list.jobs.empty() ? kUsualDays : 0);
  const double failures = model.failure_rate.value() * static_cast<double>(model.nodes) * 86400 *
                          (model.days > 0 ? model.days : kMostFleetDays);
  if (!(failures <= kMostFleetFailures)) {
    return bad_input(fmt::format("{:.3g} failures to simulate", failures), "fleet.failures",
                     fmt::format("at most {:g}: fewer --nodes or --days", kMostFleetFailures));
  }
  std::vector<Setting> settings{{question.scheduler, question.estimates}};
  if (options.compare) {
    for (const auto& s : names_of(Scheduler{})) {
      for (const auto& e : names_of(Estimates{})) settings.push_back({s.value, e.value});
    }
  }
  const auto seeds = static_cast<std::size_t>(question.seeds);
  const std::size_t tasks = settings.size() * seeds;
  const double jobs =
      list.jobs.empty() ? mix.jobs_a_day * model.days : static_cast<double>(list.jobs.size());
  if (!(jobs <= kMostJobs && jobs * static_cast<double>(tasks) <= kMostSimulated)) {
    return bad_input(
        fmt::format("{:.3g} jobs in {} simulations", jobs, tasks), "fleet.days",
        fmt::format("at most {:.0e} jobs, {:.0e} in all: fewer --days or --seeds",
                    static_cast<double>(kMostJobs), static_cast<double>(kMostSimulated)));
  }

  std::vector<FleetOutcome> outcomes(tasks);
  std::vector<std::optional<Error>> errors(tasks);
  const auto stopped = [&] {
    return options.interrupted != nullptr && options.interrupted->load();
  };
  const auto simulate_one = [&](std::size_t i) {
    if (stopped()) return;
    const RandomDraws draws(question.seed, i % seeds);
    FleetModel own = model;
    own.scheduler = settings[i / seeds].scheduler;
    own.estimates = settings[i / seeds].estimates;
    auto outcome = simulate_fleet(own,
                                  list.jobs.empty() ? jobs_of(mix, mix.nodes, model.days, draws)
                                                    : with_run_times(list.jobs, draws),
                                  draws);
    if (outcome) {
      outcomes[i] = std::move(*outcome);
    } else {
      errors[i] = std::move(outcome.error());
    }
  };
  parallel_for(tasks, threads_to_use(options.threads), simulate_one, options.progress);
  if (stopped()) return bad_input("interrupted", "fleet");
  for (std::optional<Error>& error : errors) {
    if (error) return fail(std::move(*error));
  }
  const auto of_setting = [&](std::size_t s) {
    return std::span(outcomes).subspan(s * seeds, seeds);
  };
  for (std::size_t s = 1; s < settings.size(); ++s) {
    // The setting with means comes just before that with p95.
    out.comparison.push_back(result_of(settings[s], of_setting(s), of_setting(s - (s + 1) % 2)));
  }
  summarize_fleet(out, of_setting(0));
  out.assumed = fleet_assumptions(out);
  return out;
}

}  // namespace orrery
