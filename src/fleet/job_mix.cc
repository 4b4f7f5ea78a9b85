#include "fleet/job_mix.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace orrery {

const Fields<JobClass>& fields_of(const JobClass*) {
  static const Fields<JobClass> table =
      Fields<JobClass>("class of jobs")
          .required<&JobClass::gpus>("of a job")
          .required<&JobClass::share>("of all jobs")
          .required<&JobClass::duration>("distribution of the mean run times of its jobs")
          .optional<&JobClass::priority>("higher ones start first");
  return table;
}

const Fields<RunTimeUncertainty>& fields_of(const RunTimeUncertainty*) {
  static const Fields<RunTimeUncertainty> table =
      Fields<RunTimeUncertainty>("uncertainty of a run time")
          .required<&RunTimeUncertainty::least>("standard deviation of the logarithm, at least")
          .required<&RunTimeUncertainty::most>("and at most; uniform between the two");
  return table;
}

const Fields<EndShare>& fields_of(const EndShare*) {
  static const Fields<EndShare> table = Fields<EndShare>("share of an end")
                                            .required<&EndShare::end>("how an attempt ends")
                                            .required<&EndShare::share>("of all attempts");
  return table;
}

const Fields<JobMix>& fields_of(const JobMix*) {
  static const Fields<JobMix> table =
      Fields<JobMix>("job mix")
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
  return table;
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
  if (auto law = check(m.repair); !law) return fail(at("repair", law.error()));
  return {};
}

Result<JobMix> load_job_mix(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("job-mixes", name));
  ORRERY_TRY(JobMix mix, read<JobMix>(document));
  if (auto sound = check(mix); !sound) return fail(at(document.name, sound.error()));
  return mix;
}

}  // namespace orrery
