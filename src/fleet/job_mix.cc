#include "fleet/job_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catalog/entry.h"
#include "document/comma_separated.h"
#include "outcome/parsed_number.h"

namespace orrery {

Fields<JobClass> fields_of(const JobClass*) {
  return Fields<JobClass>("class of jobs")
      .required<&JobClass::gpus>("of a job")
      .required<&JobClass::share>("of all jobs")
      .required<&JobClass::duration>("distribution of the mean run times of its jobs")
      .optional<&JobClass::priority>("higher ones start first");
}

Fields<RunTimeUncertainty> fields_of(const RunTimeUncertainty*) {
  return Fields<RunTimeUncertainty>("uncertainty of a run time")
      .required<&RunTimeUncertainty::least>("standard deviation of the logarithm, at least")
      .required<&RunTimeUncertainty::most>("and at most; uniform between the two");
}

Fields<EndShare> fields_of(const EndShare*) {
  return Fields<EndShare>("share of an end")
      .required<&EndShare::end>("how an attempt ends")
      .required<&EndShare::share>("of all attempts");
}

Fields<JobMix> fields_of(const JobMix*) {
  return Fields<JobMix>("job mix")
      .required<&JobMix::name>("identifier")
      .required<&JobMix::title>("which cluster")
      .required<&JobMix::nodes>("of the cluster")
      .optional<&JobMix::gpus_per_node>("accelerators of a node")
      .required<&JobMix::jobs_a_day>("submitted to that many nodes")
      .required<&JobMix::classes>("of jobs, by size")
      .required<&JobMix::ends>("how attempts end, as published")
      .optional<&JobMix::uncertainty>("how far run times are known before a job runs")
      .required<&JobMix::preempt_after>("an attempt cannot be preempted before")
      .optional<&JobMix::requeue_after>("a failure, until the job is queued again")
      .required<&JobMix::lifetime>("longest work of a job")
      .required<&JobMix::checkpoint>("work between two checkpoints")
      .required<&JobMix::failures>("name in the catalog's failures")
      .required<&JobMix::restart>("name in the catalog's restarts")
      .required<&JobMix::repair>("until a failed node is back")
      .optional<&JobMix::utilisation>("share of the GPUs that are allocated, published")
      .optional<&JobMix::second_order>(
          "share of the goodput lost to hardware that preemptions by requeued jobs lose, "
          "published")
      .required<&JobMix::provenance>("where the figures come from");
}

Result<void> check(const JobMix& m) {
  if (m.nodes < 1 || m.nodes > kMostNodes) {
    return bad_input(fmt::format("{} nodes", m.nodes), "nodes",
                     fmt::format("write 1 to {}", kMostNodes));
  }
  if (m.gpus_per_node < 1 || m.gpus_per_node > kMostGpusOfNode) {
    return bad_input(fmt::format("{} GPUs of a node", m.gpus_per_node), "gpus_per_node",
                     fmt::format("write 1 to {}", kMostGpusOfNode));
  }
  if (!(m.jobs_a_day > 0 && m.jobs_a_day <= 1e7)) {
    return bad_input(fmt::format("{} jobs a day", m.jobs_a_day), "jobs_a_day",
                     "write a number above 0, at most 1e7");
  }
  double shares = 0;
  for (const JobClass& c : m.classes) {
    if (c.gpus < 1 || c.gpus > kMostNodes * kMostGpusOfNode || !(c.share >= 0 && c.share <= 1)) {
      return bad_input(fmt::format("a class of {} GPUs and the share {}", c.gpus, c.share),
                       "classes", "write 1 GPU or more and a share between 0 and 1");
    }
    if (auto law = check(c.duration); !law) return fail(at("classes.duration", law.error()));
    shares += c.share;
  }
  if (!(std::abs(shares - 1) <= 1e-6)) {
    return bad_input(fmt::format("shares of jobs that add up to {:.4g}", shares), "classes",
                     "write shares that add up to 1");
  }
  double own = 0;
  double all = 0;
  for (const EndShare& e : m.ends) {
    if (!(e.share >= 0)) return bad_input("a negative share", "ends");
    if (static_cast<std::size_t>(e.end) < kOwnEnds) own += e.share;
    all += e.share;
  }
  if (!(own > 0 && all <= 1 + 1e-6)) {
    return bad_input(fmt::format("shares of ends that add up to {:.4g}", all), "ends",
                     "write at most 1, and above 0 for completed");
  }
  if (!(m.uncertainty.least >= 0 && m.uncertainty.most >= m.uncertainty.least &&
        m.uncertainty.most <= kMostUncertainty)) {
    return bad_input(
        fmt::format("an uncertainty from {} to {}", m.uncertainty.least, m.uncertainty.most),
        "uncertainty", fmt::format("write least <= most, both 0 to {}", kMostUncertainty));
  }
  constexpr Seconds kCentury{3.15576e9};
  for (const auto& [time, key] : {std::pair{m.preempt_after, "preempt_after"},
                                  {m.lifetime, "lifetime"},
                                  {m.checkpoint, "checkpoint"}}) {
    if (!(time >= Seconds(0.001) && time <= kCentury)) {
      return bad_input("a time of " + to_text(time), key, "write 1 ms to 100 years");
    }
  }
  if (!(m.requeue_after >= Seconds(0) && m.requeue_after <= kCentury)) {
    return bad_input("a time of " + to_text(m.requeue_after), "requeue_after",
                     "write 0 s to 100 years");
  }
  return at("repair", check(m.repair));
}

Result<JobMix> load_job_mix(const Catalog& catalog, std::string_view name) {
  return load_entry<JobMix>(catalog, "job-mixes", name);
}

namespace {

constexpr double kDayMs = 86'400'000;
constexpr double kZ95 = 1.6448536269514722;  // standard normal quantile of 0.95
constexpr double kLongestSeconds = 3e8;      // within kMostFleetDays

// What the random numbers of a job are for; fleet_simulation.cc has its own from 16 on.
enum JobDraw : std::uint64_t { arrival, size, length, doubt, luck, ending };

std::int64_t whole_ms(double ms) { return std::max<std::int64_t>(1, std::llround(ms)); }

std::optional<double> number_of(std::string_view text, double least, double most) {
  const auto value = parsed_number<double>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

double time_with_luck(double mean, double spread, double z) {
  return mean * std::exp(spread * z - spread * spread / 2);
}

}  // namespace

double p95_ms(const FleetJob& job) { return time_with_luck(job.mean_ms, job.spread, kZ95); }

std::vector<FleetJob> jobs_of(const JobMix& mix, std::int64_t nodes, double days,
                              const RandomDraws& draws) {
  const double scale = static_cast<double>(nodes) / static_cast<double>(mix.nodes);
  const double gap_ms = kDayMs / (mix.jobs_a_day * scale);
  const double lifetime_ms = mix.lifetime.value() * 1e3;
  double own = 0;
  for (const EndShare& e : mix.ends)
    own += static_cast<std::size_t>(e.end) < kOwnEnds ? e.share : 0;
  std::vector<FleetJob> out;
  double now = 0;
  for (std::uint64_t i = 0;; ++i) {
    now += -gap_ms * std::log(draws.uniform(arrival, i));
    if (!(now < days * kDayMs)) break;
    double left = draws.uniform(size, i);
    const auto which =
        std::ranges::find_if(mix.classes, [&](const JobClass& c) { return (left -= c.share) < 0; });
    const JobClass& of = which == mix.classes.end() ? mix.classes.back() : *which;
    if (of.gpus > nodes * mix.gpus_per_node) continue;
    FleetJob job{
        .submit_ms = static_cast<std::int64_t>(now),
        .gpus = of.gpus,
        .mean_ms = std::max(1.0, time_at(of.duration, draws.uniform(length, i)).value() * 1e3),
        .spread = std::lerp(mix.uncertainty.least, mix.uncertainty.most, draws.uniform(doubt, i)),
        .priority = of.priority};
    double end = own * draws.uniform(ending, i);
    for (const EndShare& e : mix.ends) {
      if (static_cast<std::size_t>(e.end) >= kOwnEnds || e.share == 0) continue;
      job.end = e.end;
      end -= e.share;
      if (end < 0) break;
    }
    job.mean_ms = std::min(job.mean_ms, lifetime_ms);
    const double takes =
        time_with_luck(job.mean_ms, job.spread, normal_quantile(draws.uniform(luck, i)));
    if (takes > lifetime_ms) job.end = JobEnd::timeout;
    job.work_ms = whole_ms(std::min(takes, lifetime_ms));
    out.push_back(job);
  }
  return out;
}

std::vector<FleetJob> with_run_times(std::vector<FleetJob> jobs, const RandomDraws& draws) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double z = jobs[i].spread > 0 ? normal_quantile(draws.uniform(luck, i)) : 0;
    jobs[i].work_ms = whole_ms(time_with_luck(jobs[i].mean_ms, jobs[i].spread, z));
  }
  return jobs;
}

Result<JobList> parse_job_list(std::string_view text, std::string name) {
  ORRERY_TRY(const CommaSeparated table, parse_comma_separated(text, std::move(name)));
  ORRERY_RETURN_IF_ERROR(table.complete());
  constexpr std::array<std::string_view, 5> kColumns = {"submit", "gpus", "duration", "priority",
                                                        "p95"};
  std::array<std::optional<std::size_t>, kColumns.size()> column;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const auto it = std::ranges::find(table.columns, kColumns[c]);
    if (it != table.columns.end()) column[c] = static_cast<std::size_t>(it - table.columns.begin());
    if (c < 3 && !column[c]) {
      return bad_input("a list of jobs needs the columns submit, gpus and duration", table.name,
                       "write submit,gpus,duration,priority,p95 with times in seconds");
    }
  }
  JobList out{table.name, {}};
  for (const CommaSeparated::Record& record : table.records) {
    const auto refuse = [&](std::size_t c, const std::string& what) {
      return bad_input(
          fmt::format("{} '{}' is not {}", kColumns[c], record.fields[*column[c]], what),
          fmt::format("{}: line {}", table.name, record.line));
    };
    const auto value = [&](std::size_t c, double least, double most) {
      return number_of(record.fields[*column[c]], least, most);
    };
    const auto submit = value(0, 0, kLongestSeconds);
    if (!submit) return refuse(0, fmt::format("a time of 0 to {:g} seconds", kLongestSeconds));
    const auto gpus = value(1, 1, static_cast<double>(kMostNodes * kMostGpusOfNode));
    if (!gpus || *gpus != std::floor(*gpus)) return refuse(1, "a whole number above 0");
    const auto duration = value(2, 0.001, kLongestSeconds);
    if (!duration)
      return refuse(2, fmt::format("a time of 0.001 to {:g} seconds", kLongestSeconds));
    FleetJob job{.submit_ms = std::llround(*submit * 1e3),
                 .gpus = static_cast<std::int64_t>(*gpus),
                 .mean_ms = *duration * 1e3};
    if (column[3] && !record.fields[*column[3]].empty()) {
      const auto priority = value(3, -1e9, 1e9);
      if (!priority || *priority != std::floor(*priority)) return refuse(3, "a whole number");
      job.priority = static_cast<std::int64_t>(*priority);
    }
    if (column[4] && !record.fields[*column[4]].empty()) {
      // p95 / mean = exp(1.645 s - s^2 / 2); the smaller of the two solutions.
      const double most =
          *duration * std::exp(kZ95 * kMostUncertainty - kMostUncertainty * kMostUncertainty / 2);
      const auto p95 = value(4, *duration, most);
      if (!p95) {
        return refuse(4, fmt::format("a time of 1 to {:.2f} times the duration, which is the mean",
                                     most / *duration));
      }
      job.spread = kZ95 - std::sqrt(std::max(0.0, kZ95 * kZ95 - 2 * std::log(*p95 / *duration)));
    }
    out.jobs.push_back(job);
  }
  if (out.jobs.empty()) return bad_input("a list without jobs", table.name);
  std::ranges::stable_sort(out.jobs, {}, &FleetJob::submit_ms);
  return out;
}

Result<JobList> read_job_list(const std::string& path) {
  ORRERY_TRY(const std::string text, read_file(path));
  return parse_job_list(text, path == "-" ? "standard input" : path);
}

}  // namespace orrery
