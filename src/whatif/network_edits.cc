// Edits of the network and of what is sent over it.
//
//   t = a + n / b                    a latency of one communication, n / b the rest
//   bandwidth by f    t' = a + (t - a) / f
//   latency by f      t' = t + (f - 1) a        latency to x: t' = t - a + x
//   bucket S          communications of one group and kind that follow each other are joined until
//                     the next would exceed S, or until the result of one of them is used: the last
//                     takes max a + sum (t - a), and starts when it would have
//   overlap           streams no longer wait for the communication, only the end of its step does
//   dp N, tp N        groups have N ranks:
//                     t' = a log2 N / log2 n + (t - a) share(N) / share(n),
//                     share(n) = (n - 1) / n of all that is moved (rings; an all-reduce has twice
//                     that, before and after); send and receive: as recorded. N = 1: removed,
//                     with their launches, and waiting for nobody.
//                     tp also scales matrix products, attention and softmax with n / N.
//
// The latency of a communication is not recorded: it is taken as the shortest transfer of its kind
// and group in the run, but at most 20 us (the shortest all-reduces recorded on a node take 19 us;
// validation/traces/TraceLens/README.md).
//
// Source of the shares: Thakur, Rabenseifner, Gropp 2005, section 4. Not modelled: that more ranks
// may cross slower links: combine with `bandwidth`.
#include "whatif/network_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>

#include "trace/recorded_time.h"
#include "units/quantity_text.h"
#include "whatif/edit_language.h"
#include "whatif/edited_run.h"
#include "whatif/gradient_edit.h"
#include "whatif/known_division.h"
#include "whatif/known_edits.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

constexpr std::int64_t kLongestLatencyNs = 20'000;

std::string latency_key(const WorkSubject& s) {
  return fmt::format("{}\n{}", s.collective, s.group);
}

bool has_word(std::string_view text, std::string_view word) {
  return fits_pattern(text, fmt::format("*{}*", word));
}

// Communications the edit means. Errors: there are none.
Result<std::vector<std::uint32_t>> communications(const EditedRun& run, const Edit& edit) {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t w : run.selected(edit.where)) {
    if (run.communicates(run.graph().works[w])) out.push_back(w);
  }
  if (!out.empty()) return out;
  return bad_input(
      edit.where.everything() ? "the run does not communicate" : "no communication is selected",
      to_text(edit));
}

void assume_latencies(const EditedRun& run, std::span<const std::uint32_t> works,
                      const std::map<std::string, std::int64_t>& latencies, AppliedEdit& edit) {
  std::int64_t least = kLongestLatencyNs;
  std::int64_t most = 0;
  for (const std::uint32_t w : works) {
    const std::int64_t a = latencies.at(latency_key(run.subject(run.graph().works[w])));
    least = std::min(least, a);
    most = std::max(most, a);
  }
  const auto text = [](std::int64_t ns) { return to_text(seconds_of_ns(ns)); };
  edit.assumed.push_back(
      least == most
          ? fmt::format("{} of each communication is latency", text(least))
          : fmt::format("{} to {} of each communication are latency, by its kind and group",
                        text(least), text(most)));
}

// When a work's result is first needed: by another stream, a thread, or what computes behind it on
// its own stream.
class FirstUses {
 public:
  explicit FirstUses(const RunGraph& graph)
      : times_(replayed_run(graph)), use_ns_(graph.nodes.size(), kNever) {
    for (const RunEdge& edge : graph.edges) {
      const RunNode& to = graph.nodes[edge.to];
      const std::int64_t at = to.kind == RunNodeKind::latency || to.kind == RunNodeKind::call
                                  ? times_.end_ns[edge.to]
                                  : times_.start_ns[edge.to];
      use_ns_[edge.from] = std::min(use_ns_[edge.from], at);
    }
    for (const RunLane& lane : graph.lanes) {
      if (!lane.device) continue;
      std::int64_t next = kNever;
      for (std::size_t i = lane.nodes.size(); i-- > 0;) {
        const std::uint32_t n = lane.nodes[i];
        use_ns_[n] = std::min(use_ns_[n], next);
        if (graph.nodes[n].kind == RunNodeKind::work) next = times_.start_ns[n];
      }
    }
  }

  // Whether anything uses a's result before b is ready to be sent.
  [[nodiscard]] bool between(const RunWork& a, const RunWork& b) const {
    return use_ns_[a.last] <= times_.end_ns[b.first];
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  ReplayedRun times_;
  std::vector<std::int64_t> use_ns_;
};

// Applies t' = f(a, t) to each communication.
template <class Change>
Result<void> change_transfers(EditedRun& run, AppliedEdit& edit, Change change) {
  ORRERY_TRY(const std::vector<std::uint32_t> works, communications(run, edit.edit));
  const auto latencies = assumed_latencies_ns(run);
  assume_latencies(run, works, latencies, edit);
  for (const std::uint32_t w : works) {
    const std::int64_t t = run.duration_ns(w);
    const std::int64_t a =
        std::min(t, latencies.at(latency_key(run.subject(run.graph().works[w]))));
    run.set_duration_ns(w, change(a, t));
    ++edit.changed;
  }
  return {};
}

// Ranks of a communication's group; 0: not known.
std::int64_t group_size(const EditedRun& run, const WorkSubject& s) {
  if (s.group_size) return *s.group_size;
  const auto ranks = static_cast<std::int64_t>(run.traces().size());
  return ranks > 1 ? ranks : 0;
}

// Of a communication over n ranks, the part of its volume that crosses the slowest link of a ring.
double ring_share(std::string_view collective, double ranks) {
  if (ranks <= 1) return 0;
  for (const char* word : {"send", "recv", "broadcast", "barrier"}) {
    if (has_word(collective, word) && !has_word(collective, "sendrecv")) return 1;
  }
  return (ranks - 1) / ranks;
}

}  // namespace

std::map<std::string, std::int64_t> assumed_latencies_ns(const EditedRun& run) {
  std::map<std::string, std::int64_t> shortest;
  for (std::uint32_t w = 0; w < run.graph().works.size(); ++w) {
    const RunWork& work = run.graph().works[w];
    if (!run.communicates(work)) continue;
    const auto [it, is_new] = shortest.emplace(latency_key(run.subject(work)), kLongestLatencyNs);
    if (run.duration_ns(w) > 0) it->second = std::min(it->second, run.duration_ns(w));
  }
  return shortest;
}

namespace {

Result<void> apply_bandwidth(EditedRun& run, AppliedEdit& edit, EditContext&) {
  const double factor = *edit.edit.factor;
  return change_transfers(
      run, edit, [&](std::int64_t a, std::int64_t t) { return a + scaled_ns(t - a, 1 / factor); });
}

Result<void> apply_latency(EditedRun& run, AppliedEdit& edit, EditContext&) {
  const Edit& e = edit.edit;
  return change_transfers(run, edit, [&](std::int64_t a, std::int64_t t) {
    return t - a + (e.time ? scaled_ns(1, e.time->value() * 1e9) : scaled_ns(a, *e.factor));
  });
}

Result<void> apply_bucket(EditedRun& run, AppliedEdit& edit, EditContext&) {
  ORRERY_TRY(const std::vector<std::uint32_t> works, communications(run, edit.edit));
  const auto latencies = assumed_latencies_ns(run);
  assume_latencies(run, works, latencies, edit);
  struct Bucket {
    std::vector<const RunInstance*> parts;
    Bytes volume;
  };
  const std::vector<RunInstance> instances = run.instances(works);
  std::map<std::string, Bucket> open;
  std::vector<std::uint32_t> absorbed;
  std::size_t buckets = 0;
  std::size_t larger = 0;
  const FirstUses uses(run.graph());
  const auto is_used_before = [&](const RunInstance& a, const RunInstance& b) {
    for (const std::uint32_t x : a.members) {
      for (const std::uint32_t y : b.members) {
        const RunWork& first = run.graph().works[x];
        const RunWork& second = run.graph().works[y];
        if (first.trace == second.trace && uses.between(first, second)) return true;
      }
    }
    return false;
  };
  std::size_t used = 0;
  std::size_t unknown = 0;  // how much they send
  const auto close = [&](Bucket& bucket) {
    if (bucket.parts.size() > 1) {
      ++buckets;
      // By rank: all but the last give what they move to the last.
      std::map<std::uint32_t, std::int64_t> moved;
      std::map<std::uint32_t, std::int64_t> latency;
      for (const RunInstance* part : bucket.parts) {
        for (const std::uint32_t w : part->members) {
          const RunWork& work = run.graph().works[w];
          const std::int64_t t = run.duration_ns(w);
          const std::int64_t a = std::min(t, latencies.at(latency_key(run.subject(work))));
          moved[work.trace] += t - a;
          latency[work.trace] = std::max(latency[work.trace], a);
          if (part == bucket.parts.back()) {
            run.set_duration_ns(w, moved[work.trace] + latency[work.trace]);
          } else {
            absorbed.push_back(w);
          }
          ++edit.changed;
        }
      }
    }
    bucket = {};
  };
  for (const RunInstance& instance : instances) {
    const WorkSubject s = run.subject(run.graph().works[instance.members.front()]);
    if (!s.volume) {
      ++unknown;
      continue;
    }
    Bucket& bucket = open[instance.key];
    if (*s.volume > *edit.edit.size) ++larger;
    if (bucket.volume + *s.volume > *edit.edit.size) close(bucket);
    // A result that is needed cannot wait for what is not there yet.
    if (std::ranges::any_of(bucket.parts, [&](const RunInstance* part) {
          return is_used_before(*part, instance);
        })) {
      close(bucket);
      ++used;
    }
    bucket.parts.push_back(&instance);
    bucket.volume += *s.volume;
  }
  for (auto& [key, bucket] : open) close(bucket);
  if (unknown == instances.size()) {
    return unsupported("the recording does not say how much is sent", to_text(edit.edit),
                       "profilers since PyTorch 2.2 record it; before, where shapes are recorded");
  }
  run.remove(absorbed);
  if (buckets == 0) {
    edit.assumed.emplace_back("no two of them are joined");
  } else {
    edit.assumed.push_back(
        fmt::format("{} bucket{} {} kernels, to start when the last part would have", buckets,
                    buckets == 1 ? " joins" : "s join", edit.changed));
  }
  if (unknown > 0) {
    edit.assumed.push_back(
        fmt::format("{} communications stay: how much they send is not recorded", unknown));
  }
  if (used > 0) {
    edit.assumed.push_back(fmt::format(
        "{} communications are not joined to the one before: its result is used earlier", used));
  }
  if (larger > 0) {
    edit.assumed.push_back(fmt::format(
        "{} communications are larger than a bucket and stay whole: when a part of them would be "
        "ready is not recorded",
        larger));
  }
  return {};
}

Result<void> apply_overlap(EditedRun& run, AppliedEdit& edit, EditContext&) {
  ORRERY_TRY(const std::vector<std::uint32_t> works, communications(run, edit.edit));
  RunGraph& graph = run.graph();
  std::unordered_set<std::uint32_t> transfers;
  for (const std::uint32_t w : works) transfers.insert(graph.works[w].last);
  std::unordered_set<std::uint32_t> lags;
  for (const RunEdge& edge : graph.edges) {
    if (edge.across_streams && transfers.contains(edge.from) &&
        graph.nodes[edge.to].kind == RunNodeKind::latency) {
      lags.insert(edge.to);
    }
  }
  edit.changed = std::erase_if(graph.edges, [&](const RunEdge& edge) {
    return edge.across_streams &&
           (transfers.contains(edge.from) || lags.contains(edge.from) || lags.contains(edge.to));
  });
  for (const std::uint32_t lag : lags) graph.nodes[lag].duration_ns = 0;
  for (const std::uint32_t w : works) {
    const RunWork& work = graph.works[w];
    const std::int64_t end = run.traces()[work.trace].end_ns(work.event);
    for (const RunStep& step : graph.steps) {
      if (step.trace == work.trace && step.stage == work.stage && end > step.start_ns &&
          end <= step.end_ns) {
        graph.edges.push_back({work.last, step.to, false});
      }
    }
  }
  edit.assumed.emplace_back("nothing needs the result before the end of the step");
  return {};
}

Result<void> apply_ranks(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  const KnownDivision& known = context.known;
  const bool tensor = edit.edit.verb == &kTensorRanksEdit;
  if (tensor) {
    ORRERY_RETURN_IF_ERROR(check_tensor_ranks(known, edit.edit));
    if (known.tensor_ranks == 1) {
      edit.assumed.emplace_back("layers are whole, as recorded");
      return {};
    }
  }
  ORRERY_TRY(std::vector<std::uint32_t> works, communications(run, edit.edit));
  if (edit.edit.where.everything()) {
    // The groups whose description names the axis; else the only group there is.
    std::set<std::string> groups;
    std::vector<std::uint32_t> named;
    for (const std::uint32_t w : works) {
      const WorkSubject s = run.subject(run.graph().works[w]);
      groups.emplace(s.group);
      const bool fits =
          tensor ? has_word(s.group_description, "tensor") || has_word(s.group_description, "tp")
                 : has_word(s.group_description, "data") || has_word(s.group_description, "dp");
      if (fits) named.push_back(w);
    }
    const std::int64_t degree = tensor ? known.tensor_ranks : known.data_ranks;
    if (!named.empty()) {
      works = std::move(named);
    } else if (groups.size() > 1) {
      std::string names;
      for (const std::string& group : groups) {
        names += (names.empty() ? "" : ", ") + (group.empty() ? "one without a name" : group);
      }
      return bad_input("which of the groups is meant cannot be told", to_text(edit.edit),
                       fmt::format("say: group NAME; groups: {}", names));
    } else if (degree == 0) {
      edit.assumed.emplace_back("the run's only group is meant");
    }
    const std::int64_t size = group_size(run, run.subject(run.graph().works[works.front()]));
    if (degree > 0 && size > 0 && degree != size) {
      return bad_input(
          fmt::format("the run has {} {} ranks, the group that would be changed has {}", degree,
                      tensor ? "tensor-parallel" : "data-parallel", size),
          to_text(edit.edit), "say which group is meant: group NAME");
    }
  }
  const bool alone = edit.edit.count == 1;
  const auto latencies = assumed_latencies_ns(run);
  if (!alone) assume_latencies(run, works, latencies, edit);
  std::int64_t recorded_ranks = 0;
  const auto wanted = static_cast<double>(edit.edit.count);
  for (const std::uint32_t w : works) {
    const WorkSubject s = run.subject(run.graph().works[w]);
    const std::int64_t n = group_size(run, s);
    if (n == 0) {
      return unsupported("how many ranks a group has is not recorded", to_text(edit.edit),
                         "give the recordings of all ranks");
    }
    if (recorded_ranks != 0 && n != recorded_ranks) {
      return bad_input(fmt::format("the selected groups have {} and {} ranks", recorded_ranks, n),
                       to_text(edit.edit), "select groups of one size");
    }
    recorded_ranks = n;
    const std::int64_t t = run.duration_ns(w);
    const std::int64_t a = std::min(t, latencies.at(latency_key(s)));
    ++edit.changed;
    if (n == edit.edit.count || alone) continue;
    if (n < 2) {
      return bad_input("the selected groups have one rank: nothing was sent", to_text(edit.edit));
    }
    const auto now = static_cast<double>(n);
    run.set_duration_ns(
        w, scaled_ns(a, std::log2(wanted) / std::log2(now)) +
               scaled_ns(t - a, ring_share(s.collective, wanted) / ring_share(s.collective, now)));
  }
  if (alone && recorded_ranks > 1) {
    run.remove(works);
    edit.assumed.push_back(fmt::format(
        "a rank alone meets nobody: communications over {} ranks and their launches are removed",
        recorded_ranks));
  } else if (alone) {
    edit.assumed.emplace_back("the groups have one rank, as recorded");
  } else {
    edit.assumed.push_back(fmt::format("rings over {} ranks instead of {}, on links as fast",
                                       edit.edit.count, recorded_ranks));
  }
  if (!tensor || edit.edit.count == recorded_ranks) return {};
  std::size_t kernels = 0;
  const double share = static_cast<double>(recorded_ranks) / wanted;
  for (std::uint32_t w = 0; w < run.graph().works.size(); ++w) {
    const KernelClass c = run.subject(run.graph().works[w]).kernel_class;
    if (c != KernelClass::matrix_product && c != KernelClass::attention &&
        c != KernelClass::softmax) {
      continue;
    }
    run.set_duration_ns(w, scaled_ns(run.duration_ns(w), share));
    ++kernels;
  }
  edit.changed += kernels;
  if (!known.known()) {
    edit.assumed.push_back(fmt::format(
        "the recording does not tell heads and feed-forward: that {} divides them is yours to say",
        edit.edit.count));
  }
  edit.assumed.push_back(fmt::format(
      "{} matrix products, attentions and softmaxes take {}: all of them are divided among the "
      "ranks; all else stays",
      kernels,
      share > 1 ? fmt::format("{:.3g} times as long", share)
                : fmt::format("{:.3g} % of their time", 100 * share)));
  return {};
}

Result<void> apply_data_ranks(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  if (edit.edit.where.everything() && lacks_data_parallel_groups(run, edit.edit, context.known)) {
    return apply_gradient_reductions(run, edit, context.catalog);
  }
  if (edit.edit.size || edit.edit.rate) {
    return bad_input("the run reduces gradients already", edit.text,
                     "leave out 'gradients' and 'link'; bandwidth by FACTOR scales its network");
  }
  return apply_ranks(run, edit, context);
}

std::string bandwidth_problem(const Edit& edit) {
  return *edit.factor > 0 ? "" : "the factor of a bandwidth must be greater than 0";
}

std::string bucket_problem(const Edit& edit) {
  return *edit.size > Bytes(0) ? "" : "the size of a bucket must be greater than 0";
}

std::string reduction_problem(const Edit& edit) {
  if ((edit.size || edit.rate) && !edit.where.everything()) {
    return "'gradients' and 'link' are of reductions for the whole run: leave WHERE out";
  }
  return latency_without_link(edit);
}

constexpr EditTerm kReductionTerms[] = {
    {"gradients", &Edit::size}, {"link", &Edit::rate}, {"latency", &Edit::time}};

}  // namespace

const EditVerb kBandwidthEdit{.verb = "bandwidth",
                              .form = "bandwidth by FACTOR [WHERE]",
                              .reach = EditReach::durations,
                              .where = EditPart::may,
                              .factor = EditPart::must,
                              .problem = bandwidth_problem,
                              .apply = apply_bandwidth};

const EditVerb kLatencyEdit{.verb = "latency",
                            .form = "latency by FACTOR [WHERE], or latency to TIME [WHERE]",
                            .reach = EditReach::durations,
                            .where = EditPart::may,
                            .factor = EditPart::may,
                            .time = EditPart::may,
                            .apply = apply_latency};

const EditVerb kBucketEdit{.verb = "bucket",
                           .form = "bucket SIZE [WHERE]",
                           .operand = EditOperand::size,
                           .where = EditPart::may,
                           .problem = bucket_problem,
                           .apply = apply_bucket};

const EditVerb kOverlapEdit{
    .verb = "overlap", .form = "overlap WHERE", .where = EditPart::must, .apply = apply_overlap};

const EditVerb kDataRanksEdit{
    .verb = "dp",
    .form = "dp N [WHERE], or dp N [gradients SIZE] [link RATE] [latency TIME]",
    .operand = EditOperand::count,
    .where = EditPart::may,
    .terms = kReductionTerms,
    .asks_division = true,
    .problem = reduction_problem,
    .conflict = counted_twice,
    .apply = apply_data_ranks};

const EditVerb kTensorRanksEdit{.verb = "tp",
                                .form = "tp N [WHERE]",
                                .operand = EditOperand::count,
                                .where = EditPart::may,
                                .asks_division = true,
                                .changes_kernels = true,
                                .conflict = counted_twice,
                                .apply = apply_ranks};

}  // namespace orrery
