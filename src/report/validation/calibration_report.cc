#include "report/validation/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>

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

void set_errors(Value& out, const ErrorSummary& in_sample,
                const std::optional<ErrorSummary>& held_out,
                const std::optional<ErrorSummary>& left_out) {
  const auto value = [](const std::optional<ErrorSummary>& errors) {
    return errors ? value_of(*errors, ErrorKeys::brief) : Value::null();
  };
  out.set("in_sample", value_of(in_sample, ErrorKeys::brief));
  out.set("held_out", value(held_out));
  out.set("left_out", value(left_out));
}

Value part_value(const CalibratedPart& part) {
  Value out = Value::map();
  out.set("name", Value::text(part.name));
  Value parameters = Value::list();
  for (const FittedParameter& p : part.parameters) {
    Value one = Value::map();
    one.set("name", Value::text(p.name));
    one.set("unit", Value::text(p.unit));
    one.set("value", Value::number(p.value));
    one.set("standard_error", p.standard_error ? Value::number(*p.standard_error) : Value::null());
    one.set("at_bound", Value::boolean(p.at_bound));
    parameters.append(std::move(one));
  }
  out.set("parameters", std::move(parameters));
  set_errors(out, part.in_sample, part.held_out, part.left_out);
  Value some = Value::list();
  for (const PartOfRows& s : part.of_which) {
    Value one = Value::map();
    one.set("name", Value::text(s.name));
    set_errors(one, s.in_sample, s.held_out, s.left_out);
    some.append(std::move(one));
  }
  out.set("of_which", std::move(some));
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
      for (const std::string& note : report.notes) out += wrapped(note, 2, style);
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
  std::size_t rows = 0;
  std::size_t used = 0;
  for (const Calibration& c : calibrations) {
    rows += c.rows;
    used += c.used;
  }
  out += fmt::format("\n{} of {} rows used\n", grouped(static_cast<std::int64_t>(used)),
                     grouped(static_cast<std::int64_t>(rows)));
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
  Value out = Value::map();
  out.set("kind", Value::text("calibration"));
  Value reports = Value::list();
  Value problems = Value::list();
  std::size_t rows = 0;
  std::size_t used = 0;
  for (const Calibration& c : calibrations) {
    rows += c.rows;
    used += c.used;
    for (const CalibrationReport& report : c.reports) {
      Value one = Value::map();
      one.set("kind", Value::text(report.kind));
      one.set("subject", Value::text(report.subject));
      Value parts = Value::list();
      for (const CalibratedPart& part : report.parts) parts.append(part_value(part));
      one.set("parts", std::move(parts));
      Value files = Value::list();
      for (const CalibratedFile& file : report.files) files.append(Value::text(file.path));
      one.set("files", std::move(files));
      Value notes = Value::list();
      for (const std::string& note : report.notes) notes.append(Value::text(note));
      one.set("notes", std::move(notes));
      reports.append(std::move(one));
    }
    for (const RowProblem& p : c.problems) {
      Value one = Value::map();
      one.set("where", Value::text(p.where));
      one.set("what", Value::text(p.what));
      problems.append(std::move(one));
    }
  }
  out.set("rows", Value::number(static_cast<std::int64_t>(rows)));
  out.set("used", Value::number(static_cast<std::int64_t>(used)));
  out.set("calibrations", std::move(reports));
  out.set("problems", std::move(problems));
  return out;
}

}  // namespace orrery
