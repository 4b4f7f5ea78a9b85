// orrery trace info: what recorded files hold.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "document/value.h"
#include "trace.h"
#include "trace/recorded_run.h"

namespace orrery::cli {
namespace {

struct InfoOptions {
  std::vector<std::string> files;
  bool partial = false;
};

int info(const InfoOptions& options, const Common& common) {
  RunOptions run_options;
  if (options.partial) run_options.kineto.incomplete = Incomplete::use_what_is_whole;
  const auto run = read_run(options.files, run_options);
  if (!run) return refuse(run.error());
  Value ranks = Value::list();
  std::string text;
  for (const RecordedTrace& trace : run->ranks) {
    Value rank = Value::map();
    rank.set("file", Value::text(trace.file));
    rank.set("rank", Value::number(trace.rank));
    rank.set("events", Value::number(static_cast<std::int64_t>(trace.size())));
    ranks.append(std::move(rank));
    text += "rank " + std::to_string(trace.rank) + "  " + trace.file + ": " +
            std::to_string(trace.size()) + " events\n";
    const auto& c = run->clocks[static_cast<std::size_t>(&trace - run->ranks.data())];
    text += " off " + std::to_string(c.offset_ns) + " med " + std::to_string(c.median_ns) + " spread " +
            std::to_string(c.spread_ns) + " n " + std::to_string(c.instances) + " viol " +
            std::to_string(c.violation_ns) + "\n";
  }
  if (!common.json) return print(text);
  Value document = Value::map();
  document.set("ranks", std::move(ranks));
  return print(to_json(document));
}

}  // namespace

TraceSubcommand trace_info(CLI::App& trace) {
  CLI::App* app = trace.add_subcommand("info", "what recorded files hold");
  auto options = std::make_shared<InfoOptions>();
  app->add_option("files", options->files, "traces, folders of traces, or - for standard input")
      ->required();
  app->add_flag("--partial", options->partial, "use what is whole of truncated files");
  app->footer(
      "Example:\n  orrery trace info validation/traces/megatron-lm-fork/tp2/kineto_rank0.json.gz");
  return TraceSubcommand{app, [options](const Common& common) { return info(*options, common); }};
}

}  // namespace orrery::cli
