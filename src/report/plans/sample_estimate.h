// Hand-made results for the tests of this folder: round numbers whose sums are easy to check.
#pragma once

#include <algorithm>
#include <vector>

#include "estimate/estimate.h"
#include "report/plans/subject.h"
#include "schedule/pipeline_span.h"
#include "search/search.h"

namespace orrery {

inline Picoseconds sample_milliseconds(double ms) { return Picoseconds(ms * 1e9); }

inline Subject sample_subject() {
  return {.model = "llama-3.1-405b",
          .cluster = "h100-sxm:16384",
          .size = {405.85e9, 405.85e9, 2.68e12}};
}

// 8 s on 16,384 GPUs: 5.6 s of computing, 1 s of exposed communication, ...
inline Estimate sample_estimate() {
  Estimate e;
  e.training = {.sequence_length = 8192, .global_batch = 2048};
  e.plan.tp = 8;
  e.plan.pp = 16;
  e.plan.dp = 128;
  e.plan.chunks = 4;
  e.plan.schedule = "interleaved_1f1b";
  e.gpus = 16384;
  e.microbatches = 16;
  e.mfu = 0.40444;
  e.hfu = 0.41;
  e.achieved_per_gpu = FlopsPerSecond(400e12);
  e.tokens_per_second = 2097152;
  e.breakdown[Category::attention_projection] = sample_milliseconds(1100);
  e.breakdown[Category::attention_core] = sample_milliseconds(700);
  e.breakdown[Category::feed_forward] = sample_milliseconds(3400);
  e.breakdown[Category::normalization] = sample_milliseconds(150);
  e.breakdown[Category::elementwise] = sample_milliseconds(130);
  e.breakdown[Category::contention] = sample_milliseconds(120);
  e.breakdown[Category::exposed_tp] = sample_milliseconds(640);
  e.breakdown[Category::exposed_pp] = sample_milliseconds(60);
  e.breakdown[Category::exposed_dp] = sample_milliseconds(300);
  e.breakdown[Category::bubble] = sample_milliseconds(1250);
  e.breakdown[Category::optimizer] = sample_milliseconds(100);
  e.breakdown[Category::host] = sample_milliseconds(50);
  e.step_time = e.breakdown.total().seconds();
  e.interval = {e.step_time * 0.9, e.step_time * 1.1, 0.9, "hopper: 50 held-out steps",
                "the nearest measured step is 70 B parameters on 512 h100-sxm"};
  constexpr ByteCount kGiB = ByteCount{1} << 30;
  for (int s = 0; s < 16; ++s) {
    StageReport stage;
    stage.layers = s == 0 || s == 15 ? std::vector<int>{2, 2, 2, 1} : std::vector<int>{2, 2, 2, 2};
    const double layers = s == 0 || s == 15 ? 7 : 8;
    stage.memory.parameters = 6 * kGiB;
    stage.memory.gradients = 12 * kGiB;
    stage.memory.optimizer_states = 2 * kGiB;
    stage.memory.activations = (32 - s) * kGiB;
    stage.memory.transient = (s == 15 ? 4 : 2) * kGiB;
    stage.memory.buffers = 3 * kGiB;
    stage.memory.fragmentation = 1 * kGiB;
    stage.memory.peak = stage.memory.parameters + stage.memory.gradients +
                        stage.memory.optimizer_states + stage.memory.activations +
                        stage.memory.transient + stage.memory.buffers + stage.memory.fragmentation;
    stage.memory.pessimistic = stage.memory.peak + 2 * kGiB;
    stage.memory.moment = "backward of microbatch 0";
    stage.forward = sample_milliseconds(14 * layers);
    stage.backward = sample_milliseconds(28 * layers);
    stage.busy = sample_milliseconds(800 * layers);
    stage.end = sample_milliseconds(7800 + s);
    e.stages.push_back(stage);
  }
  e.critical_stage = 1;
  e.peak_memory = e.stages[0].memory.peak;
  e.peak_memory_stage = 0;
  e.memory_capacity = 80 * kGiB;
  e.verdict = Verdict::fits;
  e.bottleneck = "feed-forward products take 42.5 % of the step; the next is the bubble, 15.6 %";
  e.assumed = {"attention: library", "gradients: fp32", "placement: tp, cp, dp, pp"};
  return e;
}

inline SearchResult sample_search_result() {
  SearchResult r;
  for (int i = 0; i < 4; ++i) {
    Estimate e = sample_estimate();
    e.breakdown[Category::bubble] += sample_milliseconds(80 * i);
    e.step_time = e.breakdown.total().seconds();
    e.mfu = 0.40444 * 8 / e.step_time.value();
    e.plan.micro_batch = 1 + i % 2;
    e.plan.chunks = 4 - i;
    e.peak_memory -= (ByteCount{3} << 30) * i;
    r.plans.push_back(e);
    if (i != 1) r.pareto.push_back(e);
  }
  RunnerUp tp;
  tp.axis = "tp";
  tp.winner = "8";
  tp.other = "4";
  tp.best_other = sample_estimate();
  tp.best_other.plan.tp = 4;
  tp.best_other.breakdown[Category::exposed_dp] += sample_milliseconds(400);
  tp.best_other.step_time = tp.best_other.breakdown.total().seconds();
  r.runners_up.push_back(tp);
  NearMiss miss;
  miss.plan = r.plans[0].plan;
  miss.plan.pp = 8;
  miss.plan.dp = 256;
  miss.bound = Seconds(7.25);
  miss.peak_memory = ByteCount{95} << 30;
  miss.shortfall = ByteCount{15} << 30;
  miss.stage = 0;
  r.near_misses.push_back(miss);
  r.considered = 128412;
  r.too_large = 90000;
  r.bounded = 37300;
  r.evaluated = 1112;
  return r;
}

// 1F1B of `stages` stages without communication: forward takes 1 s, backward 2 s.
inline std::vector<PipelineSpan> sample_pipeline(int stages, int microbatches) {
  std::vector<PipelineSpan> out;
  std::vector<std::vector<double>> forward_end(static_cast<std::size_t>(stages));
  std::vector<std::vector<double>> backward_end(static_cast<std::size_t>(stages));
  struct Step {
    bool forward;
    int microbatch;
  };
  std::vector<std::vector<Step>> order(static_cast<std::size_t>(stages));
  for (int s = 0; s < stages; ++s) {
    auto& mine = order[static_cast<std::size_t>(s)];
    const int warm = std::min(microbatches, stages - s);
    for (int j = 0; j < warm; ++j) mine.push_back({true, j});
    for (int j = 0; j < microbatches; ++j) {
      mine.push_back({false, j});
      if (j + warm < microbatches) mine.push_back({true, j + warm});
    }
    forward_end[static_cast<std::size_t>(s)].assign(static_cast<std::size_t>(microbatches), -1);
    backward_end[static_cast<std::size_t>(s)].assign(static_cast<std::size_t>(microbatches), -1);
  }
  std::vector<std::size_t> next(static_cast<std::size_t>(stages), 0);
  std::vector<double> free(static_cast<std::size_t>(stages), 0);
  bool moved = true;
  while (moved) {
    moved = false;
    for (int s = 0; s < stages; ++s) {
      const auto stage = static_cast<std::size_t>(s);
      if (next[stage] == order[stage].size()) continue;
      const Step step = order[stage][next[stage]];
      const auto j = static_cast<std::size_t>(step.microbatch);
      double ready = 0;
      if (step.forward && s > 0) ready = forward_end[stage - 1][j];
      if (!step.forward) {
        ready = s == stages - 1 ? forward_end[stage][j] : backward_end[stage + 1][j];
      }
      if (ready < 0) continue;
      const double start = std::max(ready, free[stage]);
      const double end = start + (step.forward ? 1 : 2);
      (step.forward ? forward_end : backward_end)[stage][j] = end;
      free[stage] = end;
      ++next[stage];
      moved = true;
      out.push_back(
          {.stage = s,
           .chunk = 0,
           .microbatch = step.microbatch,
           .kind = step.forward ? PipelineSpan::Kind::forward : PipelineSpan::Kind::backward,
           .start = Seconds(start),
           .end = Seconds(end)});
    }
  }
  return out;
}

}  // namespace orrery
