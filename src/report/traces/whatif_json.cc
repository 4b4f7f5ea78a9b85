// The documents of edited runs and of what slow ranks cost.
#include <vector>

#include "report/traces/recorded_values.h"
#include "report/traces/whatif_report.h"

namespace orrery {
namespace {

struct PartsInSeconds {
  const FourParts& of;
};

struct WaitingOfRank {
  const std::string& what;
  const RankWaiting& waiting;
};

std::vector<WaitingOfRank> waiting_of(const Stragglers& s) {
  std::vector<WaitingOfRank> out;
  for (std::size_t r = 0; r < s.waiting.size(); ++r) out.push_back({s.ranks[r].what, s.waiting[r]});
  return out;
}

}  // namespace

template <>
inline constexpr auto kResults<PartsInSeconds> = table<PartsInSeconds>(
    "parts", "Parts of a step on the device.",
    field("exposed_compute_s", "computing kernels run, communication does not",
          [](auto& r) { return r.of.exposed_compute; }),
    field("overlapped_s", "both run", [](auto& r) { return r.of.overlapped; }),
    field("exposed_communication_s", "communication runs, no computing kernel does",
          [](auto& r) { return r.of.exposed_communication; }),
    field("other_s", "neither: copies, fills, idle", [](auto& r) { return r.of.other; }));

template <>
inline constexpr auto kResults<AppliedEdit> = table<AppliedEdit>(
    "edit", "An edit and what it changed.",
    field("edit", "as the language writes it", [](auto& r) { return words(r.text); }),
    field<&AppliedEdit::changed>("pieces of work and of the host's time that it changed"),
    field("assumed", "what it assumed, in sentences", [](auto& r) { return words(r.assumed); }));

template <>
inline constexpr auto kResults<WhatIfStep> = table<WhatIfStep>(
    "step", "One step of a rank.",
    field("rank", "of the job, from 0; null: not recorded",
          [](auto& r) { return if_recorded(r.rank); }),
    optional_field(
        "stage", "of the pipeline that an edit made of the rank; where one did",
        [](auto& r, const WhatIf& c) { return c.staged ? std::optional(r.stage) : std::nullopt; }),
    field("step", "its name in the recording; \"recording\" where no steps are marked",
          [](auto& r) { return words(r.name); }),
    field<&WhatIfStep::before>("before_s", "as replayed without edits"),
    field<&WhatIfStep::after>("after_s", "with them"),
    field("parts_before", "of the step on the device, before",
          [](auto& r) { return PartsInSeconds{r.parts_before}; }),
    field("parts_after", "the same, after", [](auto& r) { return PartsInSeconds{r.parts_after}; }),
    field<&WhatIfStep::waiting_before>("waiting_before_s",
                                       "of its communications, for other ranks to arrive"),
    field<&WhatIfStep::waiting_after>("waiting_after_s", "the same, after"));

template <>
inline constexpr auto kResults<WhatIf> = table<WhatIf>(
    "whatif", "A recorded run, edited and simulated again.", schema_version<kWhatIfSchemaVersion>(),
    constant("kind", "what the document is", "trace-whatif"),
    constant("steps_by",
             "a step lasts from when a rank is done with the one before (its host has left "
             "it, and all it launched has ended) until it is done with this one",
             "work_done"),
    field<&WhatIf::before>("before_s", "a step of the replay, on average"),
    field<&WhatIf::after>("after_s", "a step of the edited run"),
    field<&WhatIf::waiting_before>("waiting_before_s",
                                   "of a rank for others in a step, on average"),
    field<&WhatIf::waiting_after>("waiting_after_s", "the same, after"),
    field<&WhatIf::replay_error>(
        "how far replayed steps are from recorded ones, counted alike, on average: 0.01 is 1 %"),
    field<&WhatIf::earlier>(
        "earlier_s", "work launched before a rank's first step, left out of it; most of a rank"),
    field<&WhatIf::edits>("in the order in which they were applied"),
    field<&WhatIf::steps>("by rank, then by start, then by stage"));

template <>
inline constexpr auto kResults<WaitingOfRank> = table<WaitingOfRank>(
    "waiting", "Who waited for whom.", field("what", "\"rank 2\"", [](auto& r) { return r.what; }),
    field("waited_s", "in communications, for others", [](auto& r) { return r.waiting.waited; }),
    field("arrived_last", "communications, of those with two or more recorded ranks",
          [](auto& r) { return r.waiting.arrived_last; }),
    field("caused_s", "of the others' waiting, where it arrived last",
          [](auto& r) { return r.waiting.caused; }));

template <>
inline constexpr auto kResults<StragglerGain> = table<StragglerGain>(
    "gain", "What one rank or kind of work costs.",
    field<&StragglerGain::what>("\"rank 2\", \"host\", a class of kernels"),
    field<&StragglerGain::edit>("what was asked: \"even rank 2\""),
    field<&StragglerGain::gain>("gain_s", "what a step gains if only this one is even"),
    field<&StragglerGain::remains>(
        "remains_s", "how much longer than the even run a step is if all but this one are even"));

template <>
inline constexpr auto kResults<Stragglers> = table<Stragglers>(
    "stragglers",
    "What slow ranks cost a recorded run. Of a timeline of operations the document is that of "
    "trace replay (trace-replay-operations-1.json).",
    schema_version<kWhatIfSchemaVersion>(),
    constant("kind", "what the document is", "trace-whatif-stragglers"),
    constant("steps_by",
             "a step lasts from when a rank is done with the one before (its host has "
             "left it, and all it launched has ended) until it is done with this one",
             "work_done"),
    field<&Stragglers::before>("before_s", "a step of the replay, on average"),
    field<&Stragglers::even>("even_s", "with all ranks alike"),
    field<&Stragglers::waiting_before>(
        "waiting_before_s",
        "of a rank for others in a step, on average: the most that even ranks could gain"),
    field<&Stragglers::waiting_even>("waiting_even_s", "with all ranks alike"),
    field<&Stragglers::slowdown>("before_s / even_s"),
    field("waiting",
          "who waited for whom in the replay of the whole recording, booked on the rank that "
          "arrived last; by rank, in the order of the recordings",
          [](auto& r) { return waiting_of(r); }),
    field<&Stragglers::ranks>("in the order of the recordings"),
    field<&Stragglers::kinds>("of work"));

Value whatif_json(const WhatIf& w) { return answer(w, w); }
const Description& whatif_document() { return description_of<WhatIf>(); }

Value stragglers_json(const Stragglers& s) { return answer(s); }
const Description& stragglers_document() { return description_of<Stragglers>(); }

}  // namespace orrery
