#include "report/validation/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "document/results.h"
#include "report/drawing/table.h"

namespace orrery {
namespace {

constexpr std::size_t kProblemsShown = 20;

std::string value_text(double value, const std::string& unit) {
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

Table parameter_table(const CalibrationReport& report) {
  Table table(left("fit", 9), left("parameter", 9), right("value", 9), right("standard error", 7),
              left("", 3));
  for (const CalibratedPart& part : report.parts) {
    std::string name = part.name;
    for (const FittedParameter& p : part.parameters) {
      table.row(bold(name), p.name, value_text(p.value, p.unit),
                dim(p.standard_error ? value_text(*p.standard_error, p.unit) : ""),
                dim(p.at_bound ? "at its bound" : (p.standard_error ? "" : "not determined")));
      name.clear();
    }
  }
  return table;
}

void add_errors(Table& table, const std::string& name, const ErrorSummary& in_sample,
                const std::optional<ErrorSummary>& held_out,
                const std::optional<ErrorSummary>& left_out, Ink ink) {
  table.row(cell(name, ink), in_sample.rows, percent(in_sample.median), percent(in_sample.p90),
            signed_percent(in_sample.bias), bold(held_out ? percent(held_out->median) : ""),
            held_out ? percent(held_out->p90) : "", bold(left_out ? percent(left_out->median) : ""),
            left_out ? percent(left_out->p90) : "");
}

Table error_table(std::span<const CalibrationReport> reports, std::string first_column) {
  const bool left_out = std::ranges::any_of(reports, [](const CalibrationReport& report) {
    return std::ranges::any_of(
        report.parts, [](const CalibratedPart& part) { return part.left_out.has_value(); });
  });
  Table table(left(std::move(first_column), 9), right("rows", 7), right("median", 8),
              right("p90", 6), right("bias", 4), right("held-out median", 9),
              right("held-out p90", 7), right("system left out", 8).shown_if(left_out),
              right("left-out p90", 6).shown_if(left_out));
  for (const CalibrationReport& report : reports) {
    const std::string prefix = reports.size() > 1 ? report.subject + " " : "";
    for (const CalibratedPart& part : report.parts) {
      add_errors(table, prefix + part.name, part.in_sample, part.held_out, part.left_out, {});
      for (const PartOfRows& some : part.of_which) {
        add_errors(table, "  of which " + some.name, some.in_sample, some.held_out, some.left_out,
                   kDim);
      }
    }
  }
  return table;
}

Member errors(std::string_view key, const std::optional<ErrorSummary>& summary) {
  return {key, summary ? value_of(*summary, ErrorKeys::brief) : Value::null()};
}

Value parameter_value(const FittedParameter& p) {
  return map_of({{"name", p.name},
                 {"unit", p.unit},
                 {"value", p.value},
                 {"standard_error", p.standard_error},
                 {"at_bound", p.at_bound}});
}

Value some_value(const PartOfRows& s) {
  return map_of({{"name", s.name},
                 errors("in_sample", s.in_sample),
                 errors("held_out", s.held_out),
                 errors("left_out", s.left_out)});
}

Value part_value(const CalibratedPart& part) {
  return map_of({{"name", part.name},
                 {"parameters", list_of(part.parameters, parameter_value)},
                 errors("in_sample", part.in_sample),
                 errors("held_out", part.held_out),
                 errors("left_out", part.left_out),
                 {"of_which", list_of(part.of_which, some_value)}});
}

Value report_value(const CalibrationReport& report) {
  const auto path = [](const CalibratedFile& file) { return Value::text(file.path); };
  return map_of({{"kind", report.kind},
                 {"subject", report.subject},
                 {"parts", list_of(report.parts, part_value)},
                 {"files", list_of(report.files, path)},
                 {"notes", report.notes}});
}

// Of several calibrations.
struct RowCounts {
  std::size_t rows = 0;
  std::size_t used = 0;
};

RowCounts counts_of(std::span<const Calibration> calibrations) {
  RowCounts out;
  for (const Calibration& c : calibrations) {
    out.rows += c.rows;
    out.used += c.used;
  }
  return out;
}

}  // namespace

std::string calibration_text(std::span<const Calibration> calibrations, const TextStyle& style) {
  std::string out;
  for (const Calibration& c : calibrations) {
    for (const CalibrationReport& report : c.reports) {
      out += heading(report.subject, report.kind, style);
      const bool fitted = std::ranges::any_of(
          report.parts, [](const CalibratedPart& part) { return !part.parameters.empty(); });
      if (fitted) out += parameter_table(report).text(style) + "\n";
      out += error_table(std::span(&report, 1), "|predicted / measured - 1|").text(style);
      for (const std::string& note : report.notes) out += paragraph(style, note);
    }
  }
  for (const Calibration& c : calibrations) {
    if (c.problems.empty()) continue;
    Table table(left("row", 9), left("problem", 9));
    for (std::size_t i = 0; i < std::min(kProblemsShown, c.problems.size()); ++i) {
      table.row(c.problems[i].where, c.problems[i].what);
    }
    out += heading("Rows with problems", "", style) + table.text(style);
    if (c.problems.size() > kProblemsShown) {
      out += fmt::format("  and {} more; --json names all\n", c.problems.size() - kProblemsShown);
    }
  }
  const RowCounts counts = counts_of(calibrations);
  out += fmt::format("\n{} of {} rows used\n", grouped(static_cast<std::int64_t>(counts.used)),
                     grouped(static_cast<std::int64_t>(counts.rows)));
  return out;
}

std::string calibration_markdown(std::span<const Calibration> calibrations) {
  std::string out =
      "# Errors of the calibration\n\n"
      "Written by `orrery calibrate --markdown`. |predicted / measured - 1| of what was fitted, "
      "and on\n"
      "folds of shapes that were not; bias is the mean with its sign.\n";
  for (const Calibration& c : calibrations) {
    if (c.reports.empty()) continue;
    out += "\n" + error_table(c.reports, c.reports.front().kind).markdown();
  }
  return out;
}

Value calibration_json(std::span<const Calibration> calibrations) {
  Value reports = Value::list();
  Value problems = Value::list();
  for (const Calibration& c : calibrations) {
    for (const CalibrationReport& report : c.reports) reports.append(report_value(report));
    for (const RowProblem& p : c.problems) {
      problems.append(map_of({{"where", p.where}, {"what", p.what}}));
    }
  }
  const RowCounts counts = counts_of(calibrations);
  return map_of({{"kind", "calibration"},
                 {"rows", counts.rows},
                 {"used", counts.used},
                 {"calibrations", reports},
                 {"problems", problems}});
}

}  // namespace orrery
