// The step of a plan, and days and dollars of 15 trillion tokens of such steps.
#include <cstdio>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "forecast/run_costs.h"

namespace {

orrery::Result<void> predict_and_print() {
  const orrery::Catalog& catalog = orrery::Catalog::built_in();
  orrery::Scenario scenario;
  ORRERY_TRY(scenario.model, orrery::load_model("llama-3.1-8b", catalog));
  ORRERY_TRY(scenario.cluster, orrery::parse_cluster("h100-sxm:64", catalog));
  ORRERY_TRY(scenario.plan, orrery::parse_plan("tp=2,micro_batch=1"));
  scenario.training.sequence_length = 8192;
  scenario.training.global_batch = 128;
  ORRERY_TRY(const orrery::PredictedStep step, orrery::predict(scenario, catalog));
  const orrery::Estimate figures = orrery::estimate(step);
  std::printf("step %.3f s, MFU %.1f %%\n", figures.step_time.value(), 100 * figures.mfu);

  orrery::RunQuestion run;
  run.tokens = "15T";
  ORRERY_TRY(const orrery::HealthyRun healthy,
             orrery::healthy_run(figures, step.cluster().accelerator, run, catalog));
  std::printf("%.0f days, %.2f million dollars\n", healthy.wall.value() / 86400,
              healthy.cost(healthy.wall).value() / 1e6);
  return {};
}

}  // namespace

int main() {
  const auto done = predict_and_print();
  if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return done ? 0 : 2;
}
