// Reports that TraceLens published for the recorded runs of validation/traces/TraceLens.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "analyze/operator_table.h"
#include "analyze/temporal_breakdown.h"
#include "document/value.h"
#include "trace/byte_stream.h"
#include "trace/hand_made_trace.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

const std::string kTraceLens = ORRERY_SOURCE_DIR "/validation/traces/TraceLens/";

struct Published {
  const char* report;
  const char* trace;
};
constexpr std::array<Published, 5> kPublished = {{
    {"h100_Qwen1.5-0.5B-Chat", "h100/Qwen_Qwen1.5-0.5B-Chat__1016005"},
    {"mi300_Qwen1.5-0.5B-Chat", "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005"},
    {"h100_owlv2-large", "h100/google_owlv2-large-patch14-ensemble__1016001"},
    {"mi300_owlv2-large", "mi300/google_owlv2-large-patch14-ensemble__1016001"},
    {"mi300_xdit_sd_3.5", "inference/xdit_sd_3.5/profile_trace_rank_0"},
}};

Value tables_of(const std::string& report) {
  auto stream = ByteStream::open(kTraceLens + "golden/" + report + ".json.gz");
  EXPECT_TRUE(stream);
  std::string text;
  std::array<char, 65536> block{};
  for (;;) {
    const auto got = stream->read(block.data(), block.size());
    EXPECT_TRUE(got);
    if (*got == 0) break;
    text.append(block.data(), *got);
  }
  auto document = parse_json(text, report);
  EXPECT_TRUE(document);
  return *document->root.find("tables");
}

RecordedTrace published_trace(const std::string& file) {
  KinetoOptions options;
  options.python_functions = PythonFunctions::leave_out;
  auto trace = read_kineto(kTraceLens + file + ".json.gz", options);
  EXPECT_TRUE(trace) << trace.error().text();
  return std::move(*trace);
}

double number_or_zero(const Value& row, const char* key) {
  const Value* value = row.find(key);
  return value == nullptr || value->kind() == Value::Kind::null ? 0
                                                                : std::stod(value->scalar_text());
}
std::string text(const Value& row, const char* key) { return row.find(key)->scalar_text(); }

// Published lists are written as Python has them, recorded ones as JSON.
std::string normalized(std::string_view list) {
  std::string out;
  for (const char c : list) {
    if (c != ' ' && c != '"' && c != '\'') out += c;
  }
  return out;
}

void compare_timeline(const Value& tables, const RecordedTrace& trace, const LaunchLinks& links) {
  std::map<std::string, double> published;
  for (const Value& row : tables.find("gpu_timeline")->items()) {
    published.emplace(text(row, "type"), number_or_zero(row, "time ms"));
  }
  const TemporalBreakdown parts = temporal_breakdown(trace, links, BreakdownPreset::tracelens);
  constexpr double kTraceLensRounding =
      0.002;  // ms; one fill of the MI300X runs is counted differently
  EXPECT_NEAR(ms(parts.compute_ns), published["computation_time"], kTraceLensRounding);
  EXPECT_NEAR(ms(parts.exposed_communication_ns), published["exposed_comm_time"],
              kTraceLensRounding);
  EXPECT_NEAR(ms(parts.exposed_copy_ns), published["exposed_memcpy_time"], kTraceLensRounding);
  EXPECT_NEAR(ms(parts.busy_ns()), published["busy_time"], kTraceLensRounding);
  EXPECT_NEAR(ms(parts.idle.total_ns()), published["idle_time"], kTraceLensRounding);
  EXPECT_NEAR(ms(parts.total_ns()), published["total_time"], kTraceLensRounding);
}

void compare_operators(const Value& tables, const RecordedTrace& trace, const LaunchLinks& links) {
  std::map<std::string, double> direct;
  for (const Value& row : tables.find("ops_summary")->items()) {
    direct[text(row, "name")] += number_or_zero(row, "total_direct_kernel_time_ms");
  }
  const OperatorTable table = operator_table(trace, links, OperatorGrouping::name, nullptr);
  std::map<std::string, double> ours;
  for (const OperatorRow& row : table.rows) {
    ours[std::string(trace.texts[row.name])] = ms(row.direct_ns);
  }
  for (const auto& [name, published] : direct) {
    EXPECT_NEAR(ours[name], published, 1e-3 * published + 0.002) << name;
  }
}

std::string key_of(const RecordedTrace& trace, const OperatorRow& row) {
  const OperatorDetails& d = trace.operators[trace.details[row.example]];
  return std::string(trace.texts[row.name]) + normalized(trace.texts[d.input_shapes]) +
         normalized(trace.texts[d.input_types]) + normalized(trace.texts[d.input_strides]) +
         normalized(trace.texts[d.concrete_inputs]);
}
std::string key_of(const Value& published) {
  return text(published, "name") + normalized(text(published, "Input Dims_first")) +
         normalized(text(published, "Input type_first")) +
         normalized(text(published, "Input Strides_first")) +
         normalized(text(published, "Concrete Inputs_first"));
}

// Deliberate departures (recorded_work.h): TraceLens counts some parameters of a normalization
// several times, one element as the output of a reduction, the wider type as the output of an
// operator in place, and an operation for every element that is copied.
void compare_work(const std::string& sheet, const Value& published, const OperatorRow& row) {
  ASSERT_GT(row.with_work, 0);
  const double flops = row.flops.value() / static_cast<double>(row.with_work);
  const double bytes = row.bytes.value() / static_cast<double>(row.with_work);
  const bool copies = text(published, "name") == "aten::copy_";
  const double published_flops = copies ? 0 : number_or_zero(published, "GFLOPS_first") * 1e9;
  const double published_bytes = number_or_zero(published, "Data Moved (MB)_first") * 1048576;
  const bool is_normalization = sheet == "Normalization";
  EXPECT_NEAR(flops, published_flops, 1e-3 * published_flops + (is_normalization ? 1e4 : 0));
  const bool in_place = text(published, "name").ends_with('_') &&
                        text(published, "Input type_first").find("float") != std::string::npos;
  if (sheet == "Reduce_fwd" || published_bytes == 0 || (in_place && sheet[0] == 'B')) return;
  EXPECT_NEAR(bytes, published_bytes, 1e-3 * published_bytes + (is_normalization ? 16384 : 0));
}

int compare_shapes(const Value& tables, const RecordedTrace& trace, const LaunchLinks& links) {
  const OperatorTable table = operator_table(trace, links, OperatorGrouping::arguments, nullptr);
  std::map<std::string, const OperatorRow*> ours;
  for (const OperatorRow& row : table.rows) {
    if (row.device.count == 0 || trace.details[row.example] == kNoDetails) continue;
    ours[key_of(trace, row)] = &row;
  }
  int compared = 0;
  for (const std::string sheet : {"GEMM", "SDPA_fwd", "CONV_fwd", "Normalization",
                                  "BinaryElementwise", "UnaryElementwise", "Reduce_fwd"}) {
    if (tables.find(sheet) == nullptr) continue;
    for (const Value& published : tables.find(sheet)->items()) {
      if (published.find("kernels") == nullptr) continue;  // ran on the host
      SCOPED_TRACE(sheet + " " + key_of(published));
      const auto it = ours.find(key_of(published));
      if (it == ours.end()) {
        ADD_FAILURE() << "not found";
        continue;
      }
      const OperatorRow& row = *it->second;
      compare_work(sheet, published, row);
      ++compared;
      // Reductions are merged there by the number of elements.
      if (sheet == "Reduce_fwd") continue;
      EXPECT_EQ(row.device.count,
                static_cast<std::int64_t>(number_or_zero(published, "name_count")));
      EXPECT_NEAR(static_cast<double>(row.device.total_ns) * 1e-3,
                  number_or_zero(published, "Kernel Time (µs)_sum"),
                  1e-3 * number_or_zero(published, "Kernel Time (µs)_sum"));
    }
  }
  return compared;
}

TEST(TraceLensFigures, HoldForTheBreakdownAndEveryOperator) {
  int compared = 0;
  for (const Published& published : kPublished) {
    SCOPED_TRACE(published.report);
    const Value tables = tables_of(published.report);
    const RecordedTrace trace = published_trace(published.trace);
    const LaunchLinks links = launch_links(trace);
    compare_timeline(tables, trace, links);
    compare_operators(tables, trace, links);
    compared += compare_shapes(tables, trace, links);
  }
  EXPECT_GE(compared, 100);
}

// A report that tells recomputation from the rest, and leaves fills out: its two parts together are
// compared, and our figures without fills.
TEST(TraceLensFigures, HoldForARunThatRecomputes) {
  const Value tables = tables_of("mi300_resnet_act_checkpoint");
  const RecordedTrace trace = published_trace("mi300/resnet_act_checkpoint");
  const LaunchLinks links = launch_links(trace);
  std::map<std::string, double> published;
  for (const Value& row : tables.find("gpu_timeline")->items()) {
    const bool again = text(row, "is_recompute") == "True";
    published[text(row, "type") + (again ? " again" : "")] = number_or_zero(row, "time ms");
  }
  const TemporalBreakdown parts = temporal_breakdown(trace, links, BreakdownPreset::tracelens);
  EXPECT_NEAR(ms(parts.total_ns()), published["total_time"], 1e-3);
  EXPECT_NEAR(ms(parts.communication_ns), published["total_comm_time"], 1e-3);
  EXPECT_NEAR(ms(parts.exposed_copy_ns), published["exposed_memcpy_time"], 1e-3);
  const std::vector<WorkKind> kinds = work_kinds(trace);
  std::map<std::string, double> ours;
  std::int64_t compute_ns = 0;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    const std::uint32_t caller = is_device_work(trace.kind[e]) ? links.operator_of(e) : kNoEvent;
    if (caller == kNoEvent || kinds[e] == WorkKind::fill) continue;
    ours[std::string(trace.name_of(caller))] += ms(trace.duration_ns[e]);
    if (kinds[e] == WorkKind::compute) compute_ns += trace.duration_ns[e];
  }
  // One stream computes: sums and unions are alike.
  const double computing = published["computation_time"] + published["computation_time again"];
  EXPECT_NEAR(ms(compute_ns), computing, 1e-3 * computing);
  std::map<std::string, double> direct;
  for (const Value& row : tables.find("ops_summary")->items()) {
    direct[text(row, "name")] += number_or_zero(row, "total_direct_kernel_time_ms");
  }
  EXPECT_GE(direct.size(), 20U);
  for (const auto& [name, time] : direct) {
    EXPECT_NEAR(ours[name], time, 1e-3 * time + 0.002) << name;
  }
}

}  // namespace
}  // namespace orrery
