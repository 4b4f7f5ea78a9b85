// orrery trace kernels: our cost model beside the kernels of a recorded run, and those kernels as
// measurements for orrery calibrate.
#include <filesystem>
#include <string>

#include "document/value.h"
#include "infer/kernel_comparison.h"
#include "infer/kernel_tables.h"
#include "report/traces/trace_reports.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

struct KernelOptions {
  TraceFiles files;
  std::string accelerator;
  std::string measurements;
  std::size_t top = 10;
};

Result<void> write_tables(const KernelComparison& comparison, const std::string& recorded_in,
                          const std::string& directory) {
  RecordedKernels recorded;
  for (const ComparedKernel& k : comparison.kernels) recorded.kernels.push_back(k.recorded);
  ORRERY_RETURN_IF_ERROR(make_folder(directory));
  for (const KernelTable& table : kernel_tables(recorded, comparison.accelerator, recorded_in)) {
    const auto path = std::filesystem::path(directory) / table.file;
    ORRERY_RETURN_IF_ERROR(write_file(path.string(), table.text));
  }
  return {};
}

Result<int> compare_kernels(const KernelOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto run, read_trace_files(options.files, common));
  ORRERY_TRY(const auto compared, kernel_comparison(run.ranks, catalog, options.accelerator));
  if (!options.measurements.empty()) {
    const std::string name = std::filesystem::path(run.ranks.front().file).filename().string();
    ORRERY_RETURN_IF_ERROR(write_tables(compared, name, options.measurements));
  }
  return print(common.json ? to_json(kernel_json(compared))
                           : kernel_text(compared, options.top, text_style()));
}

}  // namespace

Command trace_kernels(CLI::App& trace) {
  auto [app, options] = subcommand<KernelOptions>(
      trace, "kernels",
      "our cost model beside the recorded kernels; measurements for orrery calibrate");
  add_trace_files(app, options->files);
  app->add_option("--accelerator", options->accelerator,
                  "a name of the catalog instead of the recorded device")
      ->check(not_empty());
  app->add_option("--measurements", options->measurements,
                  "write tables for orrery calibrate into this folder");
  add_number(app, "--top", options->top, "rows of the kernels that are off most",
             CLI::Range(std::size_t{1}, std::size_t{100'000}));
  app->footer(
      "Example:\n  orrery trace kernels "
      "validation/traces/TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
  return command(app, options, compare_kernels);
}

}  // namespace orrery::cli
