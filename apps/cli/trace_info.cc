// orrery trace info: what recorded files hold.
#include <memory>
#include <string>
#include <vector>

#include "report/trace_info_report.h"
#include "trace.h"
#include "trace_files.h"

namespace orrery::cli {

TraceSubcommand trace_info(CLI::App& trace) {
  CLI::App* app = trace.add_subcommand("info", "what recorded files hold");
  auto options = std::make_shared<TraceFiles>();
  add_trace_files(app, *options);
  app->footer("Example:\n  orrery trace info validation/traces/torchrec/sst_long_a2a_optimizer");
  const auto run = [options](const Common& common) {
    const auto recorded = read_trace_files(*options, Ranks::any, common);
    if (!recorded) return refuse(recorded.error());
    if (common.json) return print(to_json(trace_info_json(*recorded)));
    return print(trace_info_text(*recorded, text_style()));
  };
  return TraceSubcommand{app, run};
}

}  // namespace orrery::cli
