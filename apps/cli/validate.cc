// orrery validate: predictions against measured runs.
#include <algorithm>
#include <filesystem>

#include "command.h"
#include "document/value.h"
#include "measured/scenario_of_row.h"
#include "measured/specification_of_row.h"
#include "outcome/nearest_name.h"
#include "plan/software.h"
#include "report/drawing/png.h"
#include "report/drawing/scatter_svg.h"
#include "report/validation/validation_report.h"
#include "validate/claims.h"
#include "validate/judgement.h"
#include "validate/validation.h"
#include "validate/wrong_cells.h"

namespace orrery::cli {
namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  std::string markdown;
  std::string figures;
  std::string strategies;                // the page about them that is written
  std::string as_spec;                   // row whose specification is printed instead
  std::string software{kUsualSoftware};  // of rows whose source and framework are unknown
  bool all_rows = false;
};

constexpr int kPictureWidth = 910;

struct Inputs {
  std::vector<MeasuredRow> rows;
  std::vector<HeldOutStep> held_out;
  std::vector<RowProblem> problems;
};

// Without files: those of the repository the command is called in.
std::vector<std::string> usual_files() {
  std::vector<std::string> out;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator("validation/measured", absent)) {
    if (entry.path().extension() == ".csv") out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  if (!out.empty() && std::filesystem::exists("validation/held-out-steps.csv", absent)) {
    out.emplace_back("validation/held-out-steps.csv");
  }
  return out;
}

std::string name_of_input(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<Inputs> read_inputs(const std::vector<std::string>& files) {
  Inputs out;
  bool any_measured = false;
  for (const std::string& path : files) {
    ORRERY_TRY(const std::string text, read_file(path));
    ORRERY_TRY(CommaSeparated table, parse_comma_separated(text, name_of_input(path)));
    if (is_held_out(table)) {
      ORRERY_TRY(const std::vector<HeldOutStep> steps, read_held_out(table));
      out.held_out.insert(out.held_out.end(), steps.begin(), steps.end());
      continue;
    }
    auto read = measured_rows(std::move(table));
    if (!read) {
      // Other files may still be of use.
      if (files.size() == 1) return fail(read.error());
      out.problems.push_back({read.error().where, read.error().message});
      continue;
    }
    any_measured = true;
    out.rows.insert(out.rows.end(), read->rows.begin(), read->rows.end());
    out.problems.insert(out.problems.end(), read->problems.begin(), read->problems.end());
  }
  for (RowProblem& problem : leave_out_repeats(out.rows)) {
    out.problems.push_back(std::move(problem));
  }
  if (files.empty()) {
    return fail(ErrorCode::not_found, "no file of measurements", "",
                "name one, or call this where validation/measured is");
  }
  if (!any_measured || out.rows.empty()) {
    const RowProblem first = out.problems.empty()
                                 ? RowProblem{name_of_input(files.front()), "there is none"}
                                 : out.problems.front();
    return bad_input("no row can be used; " + first.what, first.where);
  }
  return out;
}

// Prints a row as a specification; a negative answer if it cannot be expressed.
Result<int> print_specification(const ValidateOptions& options, const Inputs& inputs,
                                const Catalog& catalog) {
  std::vector<std::string> known;
  for (const MeasuredRow& row : inputs.rows) known.push_back(row.row_id);
  const auto at = std::ranges::find(known, options.as_spec);
  if (at == known.end()) {
    return fail(ErrorCode::not_found, "no usable row has the row_id '" + options.as_spec + "'",
                "--as-spec", name_hint(options.as_spec, known));
  }
  const MeasuredRow& row = inputs.rows[static_cast<std::size_t>(at - known.begin())];
  std::string because = wrong_cells(row, catalog);
  if (because.empty()) {
    const auto scenario = scenario_of_row(row, catalog, options.software);
    if (scenario) return print(specification_of_row(row, *scenario, catalog));
    because = scenario.error().because;
  }
  say(row.place() + ": " + because);
  return ExitCode::negative;
}

// An error if not one of the rows, of which there is at least one, was estimated.
Result<void> some_row_used(const std::vector<RowOutcome>& rows) {
  for (const RowOutcome& row : rows) {
    if (row.skipped_because.empty()) return {};
  }
  const RowOutcome& first = rows.front();
  return bad_input("no row can be used", first.place.substr(0, first.place.rfind(':')),
                   "the first problem is " + first.place + ": " + first.skipped_because);
}

// The page and, beside it in images/, its picture as SVG and PNG.
Result<void> write_page(const std::string& path, const Validation& validation,
                        const Judgement& judgement) {
  std::string picture;
  if (!judgement.points.empty()) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path() / "images";
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    const std::string svg = scatter_svg(judgement.points, "Step times: predicted against measured");
    ORRERY_TRY(const std::string png, png_of_svg(svg, kPictureWidth));
    ORRERY_RETURN_IF_ERROR(write_file((folder / "validation-scatter.svg").string(), svg));
    ORRERY_RETURN_IF_ERROR(write_file((folder / "validation-scatter.png").string(), png));
    picture = "images/validation-scatter.svg";
  }
  return write_file(path, validation_markdown(validation, judgement_markdown(judgement, picture)));
}

Result<int> validate_files(const ValidateOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_RETURN_IF_ERROR(at("--software", load_software(catalog, options.software)));
  ORRERY_TRY(const auto inputs, read_inputs(options.files.empty() ? usual_files() : options.files));
  if (!options.as_spec.empty()) return print_specification(options, inputs, catalog);
  const Validation validation = validate(inputs.rows, catalog, common.threads, options.software);
  ORRERY_RETURN_IF_ERROR(some_row_used(validation.rows));
  for (const RowProblem& p : inputs.problems) say(p.where + ": " + p.what + "; left out");
  for (const RowOutcome& row : validation.rows) {
    if (!row.impossible) continue;
    say(row.place + ": " + row.skipped_because + "; left out");
  }
  const Judgement judgement = judged(validation, inputs.held_out);
  if (!options.markdown.empty()) {
    ORRERY_RETURN_IF_ERROR(write_page(options.markdown, validation, judgement));
  }
  if (!options.strategies.empty()) {
    ORRERY_TRY(const Document claims, read_document("validation/strategies.yaml"));
    ORRERY_TRY(const std::vector<JudgedClaim> outcomes, judged_claims(claims, catalog));
    ORRERY_RETURN_IF_ERROR(write_file(options.strategies, claims_markdown(outcomes)));
  }
  if (!options.figures.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(options.figures, figures_text(judgement.figures)));
  }
  if (common.json) {
    Value document = validation_json(validation);
    document.set("judgement", judgement_json(judgement));
    return print(to_json(document));
  }
  return print(validation_text(validation,
                               options.all_rows ? RowDetail::every_row : RowDetail::skipped_only,
                               text_style()) +
               judgement_text(judgement, text_style()));
}

}  // namespace

Command validate_command(CLI::App& orrery) {
  auto [app, o] =
      subcommand<ValidateOptions>(orrery, "validate", "predictions against measured runs");
  app->add_option("files", o->files, "CSV files, or - for standard input");
  app->add_option("--figures", o->figures, "write the published figures as CSV");
  app->add_option("--markdown", o->markdown, "write the error tables to this file");
  app->add_option("--strategies", o->strategies,
                  "write what papers claim of strategies beside predictions to this file");
  app->add_option("--as-spec", o->as_spec, "print this row as a specification for orrery estimate");
  app->add_flag("--rows", o->all_rows, "print every row");
  app->add_option("--software", o->software,
                  "profile, of orrery catalog software, of rows whose source and framework are "
                  "unknown")
      ->capture_default_str();
  app->footer("Example:\n  orrery validate validation/measured/torchtitan.csv");

  return command(app, o, validate_files);
}

}  // namespace orrery::cli
