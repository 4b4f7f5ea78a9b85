// orrery validate: predictions against measured runs.
#include "command.h"
#include "document/value.h"
#include "report/validation_report.h"
#include "validate/validation.h"

namespace orrery::cli {

int validate_command(const ValidateOptions& options, const Common& common) {
  const auto catalog = open_catalog(common);
  if (!catalog) return refuse(catalog.error());
  std::vector<MeasuredRow> rows;
  for (const std::string& path : options.files) {
    auto read = read_measured_rows(path);
    if (!read) return refuse(read.error());
    rows.insert(rows.end(), read->begin(), read->end());
  }
  const Validation validation = validate(rows, *catalog, common.threads);
  if (!options.markdown.empty()) {
    const auto written = write_file(options.markdown, validation_markdown(validation));
    if (!written) return refuse(written.error());
  }
  if (common.json) return print(to_json(validation_json(validation)));
  return print(validation_text(
      validation, options.all_rows ? RowDetail::every_row : RowDetail::skipped_only, text_style()));
}

}  // namespace orrery::cli
