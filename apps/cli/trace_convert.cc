// orrery trace convert: recorded runs in other programs' formats.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "document/results.h"
#include "document/value.h"
#include "replay/chakra_graph.h"
#include "report/drawing/figures.h"
#include "report/traces/recording_remarks.h"
#include "trace/chakra/astra_sim_run.h"
#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_conversion.h"
#include "trace/chakra/chakra_file.h"
#include "trace/chakra/chakra_run.h"
#include "trace/chakra/communicators.h"
#include "trace/perfetto/chrome_json.h"
#include "trace/perfetto/recorded_json.h"
#include "trace/perfetto/rewritten_recording.h"
#include "trace/piece_writer.h"
#include "trace/pytorch_et/host_pairs.h"
#include "trace/trace_inputs.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

enum class Target { chakra, perfetto, graph };

struct ConvertOptions {
  TraceFiles files;
  std::string to;
  std::string out;
  std::string prefix = "trace";
  std::string launching = "nearest";
  int ranks = 0;
  bool stream_order = false;
  bool no_synchronization = false;
  bool work = false;
  bool fills = false;
  bool pauses = false;
  ChakraGraphOptions chakra;
  std::vector<std::string> given;  // of kScopedOptions
};

// Options that mean something in some conversions only.
struct ScopedOption {
  const char* name;
  const char* scope;
  bool (*means)(const TraceFormat& from, Target to);
};

bool recording_to_chakra(const TraceFormat& from, Target to) {
  return from.recording != nullptr && to == Target::chakra;
}
bool to_chakra(const TraceFormat&, Target to) { return to == Target::chakra; }
bool from_workload(const TraceFormat& from, Target) { return from.chakra_of_ranks != nullptr; }
bool from_chakra(const TraceFormat& from, Target) { return from.chakra != nullptr; }
bool simulated_chakra(const TraceFormat& from, Target to) {
  return from.chakra != nullptr && to != Target::chakra;
}

constexpr const char* kProfileToChakra = "traces of the PyTorch profiler written as chakra";
constexpr std::array<ScopedOption, 10> kScopedOptions = {{
    {"--prefix", "what is written as chakra", to_chakra},
    {"--ranks", "text workloads", from_workload},
    {"--launching-operator", kProfileToChakra, recording_to_chakra},
    {"--stream-order", kProfileToChakra, recording_to_chakra},
    {"--work", kProfileToChakra, recording_to_chakra},
    {"--fills", kProfileToChakra, recording_to_chakra},
    {"--pauses", kProfileToChakra, recording_to_chakra},
    {"--no-synchronization", kProfileToChakra, recording_to_chakra},
    {"--ignore-absent", "Chakra execution traces", from_chakra},
    {"--ignore-control", "Chakra execution traces written as perfetto or graph", simulated_chakra},
}};

Result<void> check_scopes(const ConvertOptions& o, const TraceSources& sources, Target target) {
  for (const ScopedOption& option : kScopedOptions) {
    const bool given = std::ranges::find(o.given, option.name) != o.given.end();
    if (!given || option.means(*sources.format, target)) continue;
    return bad_input(std::string(option.name) + " is of " + option.scope + ", but this is " +
                         std::string(sources.format->name) + " written as " +
                         std::string(to_text(target)),
                     sources.files[0], "leave it out");
  }
  return {};
}

// What was written, and what is to be said about it.
struct Written {
  std::vector<std::string> files;
  std::vector<std::string> remarks;
  std::string groups;  // the communicator file
  Value ranks = Value::list();
  std::size_t findings = 0;
  std::int64_t without_size = 0;
  bool holds_every_event = false;  // of the files, also those that were not read
};

Result<TraceSources> sources_of(const std::vector<std::string>& given) {
  ORRERY_TRY(TraceSources sources, trace_sources(given));
  const auto converts = [](const TraceFormat& format) {
    return format.recording != nullptr || format.with_recordings || format.chakra != nullptr ||
           format.chakra_of_ranks != nullptr;
  };
  if (converts(*sources.format)) return sources;
  return unsupported("is " + std::string(sources.format->name), sources.files[0],
                     "orrery trace convert takes " + formats_in_words(converts));
}

ChakraConversionOptions conversion(const ConvertOptions& o) {
  ChakraConversionOptions out;
  if (o.stream_order) out.stream_order = StreamOrder::as_dependencies;
  if (o.no_synchronization) out.synchronization = SynchronizationDependencies::leave_out;
  if (o.work) out.work = WorkAttributes::write;
  if (o.fills) out.fills = Fills::keep;
  if (o.pauses) out.pauses = Pauses::write;
  if (o.launching == "external-id") out.launching = LaunchingOperator::external_id;
  return out;
}

ChakraReport checked(const ConvertOptions& o, const ChakraTrace& trace, std::int64_t rank,
                     std::int64_t ranks) {
  ChakraCheckOptions check;
  check.absent = o.chakra.absent;
  check.rank = rank;
  check.ranks = ranks;
  return check_chakra(trace, check);
}

// Writes the trace of one rank, and says what it is.
Result<void> write_rank(const ConvertOptions& o, const ChakraTrace& trace, std::int64_t rank,
                        const ChakraReport& report, Written& out) {
  const std::string file =
      (std::filesystem::path(o.out) / (o.prefix + "." + std::to_string(rank) + ".et")).string();
  ORRERY_RETURN_IF_ERROR(write_chakra(file, trace));
  out.findings += report.total;
  out.without_size += report.without_size;
  std::int64_t edges = 0;
  std::int64_t communications = 0;
  for (const ChakraNode& node : trace.nodes) {
    edges += static_cast<std::int64_t>(node.data_dependencies.size());
    communications += node.type == ChakraNodeType::collective ||
                              node.type == ChakraNodeType::send ||
                              node.type == ChakraNodeType::receive
                          ? 1
                          : 0;
  }
  out.files.push_back(file + "  " + counted(trace.nodes.size(), "node") + ", " +
                      counted(edges, "data dependency", "data dependencies") + ", " +
                      counted(communications, "communication") +
                      (report.accepted() ? ", accepted" : ""));
  std::vector<std::string> findings;
  for (const ChakraFinding& f : report.findings) {
    findings.push_back("node " + std::to_string(f.node) + ": " + f.message);
    if (findings.size() <= 3) out.remarks.push_back(file + ": " + findings.back());
  }
  if (report.total > 3) {
    out.remarks.push_back(file + ": " + counted(report.total, "finding") + " in all");
  }
  out.ranks.append(map_of({{"rank", rank},
                           {"file", file},
                           {"nodes", trace.nodes.size()},
                           {"data_dependencies", edges},
                           {"communications", communications},
                           {"without_size", report.without_size},
                           {"findings", findings}}));
  return {};
}

// The communicator file beside the traces, if any of their groups has a number; `text` is its.
Result<void> write_groups(const ConvertOptions& o, const Communicators& groups,
                          const std::string& text, Written& out) {
  const std::string file = communicator_file(o.out, o.prefix);
  ORRERY_RETURN_IF_ERROR(write_communicators(file, text));
  if (groups.empty()) return {};
  out.groups = file;
  out.files.push_back(file + "  " + counted(groups.size(), "group") +
                      ", for --comm-group-configuration");
  return {};
}

// `ranks` of the job, or at least so many.
void add_missing_ranks(std::int64_t given, std::int64_t ranks, bool are_known, Written& out) {
  if (given >= ranks) return;
  out.remarks.push_back(counted(given, "rank") + " of " + (are_known ? "" : "at least ") +
                        std::to_string(ranks) +
                        ": ASTRA-sim needs all ranks; convert them together so that their groups "
                        "get the same numbers");
}

// Numbers the groups of a job, checks and writes its ranks. `ranks`: of the job, if it is known.
Result<Written> write_run(const ConvertOptions& o, ChakraRun& run, std::int64_t ranks) {
  const NumberedGroups groups = number_groups(run, ranks);
  ORRERY_TRY(const std::string text, communicator_text(groups.communicators, groups.ranks));
  std::vector<ChakraReport> reports;
  for (std::size_t r = 0; r < run.size(); ++r) {
    reports.push_back(checked(o, run[r].trace, run[r].rank, groups.ranks));
    for (const GroupsProblem& problem : groups.problems[r]) {
      reports[r].add({problem.node, problem.message});
    }
  }
  // Ranks that are not accepted by themselves need not be tried together.
  if (std::ranges::all_of(reports, &ChakraReport::accepted)) {
    ORRERY_TRY(const auto stops, astra_sim_run(run, o.chakra.absent));
    for (const AstraSimStop& stop : stops) reports[stop.rank].add(stop.finding);
  }
  ORRERY_RETURN_IF_ERROR(make_folder(o.out));
  Written out;
  for (std::size_t r = 0; r < run.size(); ++r) {
    ORRERY_RETURN_IF_ERROR(write_rank(o, run[r].trace, run[r].rank, reports[r], out));
  }
  ORRERY_RETURN_IF_ERROR(write_groups(o, groups.communicators, text, out));
  if (!groups.undefined.empty()) {
    out.remarks.push_back(undefined_groups_sentence(groups.undefined));
  }
  if (out.without_size > 0) {
    out.remarks.push_back(counted(out.without_size, "collective") +
                          " recorded without a size, which ASTRA-sim takes for a few bytes");
  }
  add_missing_ranks(static_cast<std::int64_t>(run.size()), groups.ranks, groups.ranks_are_known,
                    out);
  return out;
}

Result<Written> profiles_to_chakra(const ConvertOptions& o, const TraceSources& sources,
                                   const RecordedRun& run) {
  std::vector<HostTrace> hosts;
  for (const std::string& file : sources.hosts) {
    ORRERY_TRY(HostTrace host, read_host_trace(file));
    hosts.push_back(std::move(host));
  }
  ORRERY_TRY(const std::vector<std::size_t> pairs, host_pairs(run, hosts));
  // All ranks are converted before the first file is written.
  std::vector<ChakraConversion> conversions;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    if (pairs[r] == kNoHost) {
      ORRERY_TRY(ChakraConversion c, chakra_from(run.ranks[r], conversion(o)));
      conversions.push_back(std::move(c));
    } else {
      ORRERY_TRY(ChakraConversion c, chakra_from(run.ranks[r], hosts[pairs[r]], conversion(o)));
      conversions.push_back(std::move(c));
    }
  }
  ChakraRun converted;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    converted.push_back({run.ranks[r].rank, run.ranks[r].file, std::move(conversions[r].trace)});
  }
  const std::int64_t ranks = run.world_size == kNotRecorded ? 0 : run.world_size;
  ORRERY_TRY(Written out, write_run(o, converted, ranks));
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const ChakraConversion& c = conversions[r];
    const std::string rank = "rank " + std::to_string(run.ranks[r].rank) + ": ";
    if (pairs[r] != kNoHost) {
      out.remarks.push_back(rank + "linked to " + hosts[pairs[r]].file + " by " +
                            std::string(to_text(c.linked_by)));
    }
    if (c.without_launch > 0) {
      out.remarks.push_back(rank + counted(c.without_launch, "operation") +
                            " of devices left out: the launch is not in the file");
    }
    if (c.unknown_communication > 0) {
      out.remarks.push_back(rank + counted(c.unknown_communication, "kernel") +
                            " of communication written as computation: nothing says what " +
                            (c.unknown_communication == 1 ? "it does" : "they do"));
    }
  }
  return out;
}

Result<Written> rewrite_chakra(const ConvertOptions& o, const TraceSources& sources) {
  ORRERY_TRY(ChakraRun run, sources.format->chakra(sources.files, incomplete(o.files)));
  return write_run(o, run, 0);
}

Result<Written> workload_to_chakra(const ConvertOptions& o, const TraceSources& sources) {
  ORRERY_TRY(const ChakraOfRanks of_ranks, sources.format->chakra_of_ranks(sources.files[0]));
  const std::int64_t ranks = o.ranks > 0 ? o.ranks : of_ranks.ranks;
  if (ranks <= 0) {
    return bad_input("the workload does not say how many ranks it has", sources.files[0],
                     "give --ranks N");
  }
  if (of_ranks.ranks > 0 && ranks > of_ranks.ranks) {
    return bad_input(
        "--ranks " + std::to_string(ranks) + " of " + std::to_string(of_ranks.ranks) + " GPUs",
        sources.files[0], "give fewer ranks");
  }
  constexpr std::int64_t kMostRanks = 100'000;
  if (ranks > kMostRanks) {
    return unsupported(std::to_string(ranks) + " ranks are more files than fit", sources.files[0],
                       "give --ranks N, at most 100000");
  }
  ORRERY_RETURN_IF_ERROR(make_folder(o.out));
  Written out;
  Communicators groups;
  const std::int64_t job = std::max(ranks, of_ranks.ranks);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    ChakraTrace trace = of_ranks.trace(rank);
    set_world_size(trace, job);
    ORRERY_RETURN_IF_ERROR(write_rank(o, trace, rank, checked(o, trace, rank, job), out));
    add_communicators(trace, groups);
  }
  ORRERY_TRY(const std::string text, communicator_text(groups, job));
  ORRERY_RETURN_IF_ERROR(write_groups(o, groups, text, out));
  add_missing_ranks(ranks, job, true, out);
  return out;
}

Result<std::string> perfetto_text(const ConvertOptions& o, const TraceSources& sources) {
  ORRERY_TRY(const ChakraRun chakra, sources.format->chakra(sources.files, incomplete(o.files)));
  ORRERY_TRY(const ChakraGraph graph, chakra_graph(chakra, o.chakra));
  const std::vector<TimelineSpan> spans = chakra_spans(chakra, graph);
  if (spans.empty()) return bad_input("holds nothing that could be drawn", sources.files[0]);
  return chrome_json(spans, sources.files[0]);
}

Result<Written> write_perfetto(const ConvertOptions& o, const TraceSources& sources,
                               const RecordedRun& run) {
  Written out;
  const auto piped = std::ranges::find_if(sources.files, [](const std::string& file) {
    std::error_code ignored;
    return file == "-" || !std::filesystem::is_regular_file(file, ignored);
  });
  if (sources.format->recording != nullptr &&
      (!sources.format->chrome_events || piped != sources.files.end())) {
    ORRERY_RETURN_IF_ERROR(write_recorded_json(o.out, run.ranks));
    if (piped != sources.files.end()) {
      out.remarks.push_back((*piped == "-" ? "standard input" : *piped) +
                            " can be read but once: what Orrery does not read is not in the file");
    }
  } else if (sources.format->recording != nullptr) {
    RewriteOptions options;
    options.incomplete = incomplete(o.files);
    if (o.files.no_stacks) options.python_functions = PythonFunctions::leave_out;
    ORRERY_RETURN_IF_ERROR(write_rewritten_recording(o.out, run, options));
    out.holds_every_event = options.incomplete == Incomplete::refuse;
  } else {
    ORRERY_TRY(const std::string text, perfetto_text(o, sources));
    ORRERY_RETURN_IF_ERROR(write_at_once(o.out, text));
  }
  out.files.push_back(o.out + "  open it in ui.perfetto.dev");
  out.ranks.append(map_of({{"file", o.out}}));
  return out;
}

Result<Written> write_graph(const ConvertOptions& o, const TraceSources& sources,
                            const RecordedRun& run) {
  ORRERY_TRY(std::string line, run.ranks.empty() ? write_chakra_graph(o.out, sources.files,
                                                                      incomplete(o.files), o.chakra)
                                                 : write_run_graph(o.out, run));
  Written out;
  out.files.push_back(std::move(line));
  out.ranks.append(map_of({{"file", o.out}}));
  return out;
}

Result<Target> target_of(const ConvertOptions& o) {
  const bool json = o.out.ends_with(".json") || o.out.ends_with(".json.gz");
  const bool graph = o.out.ends_with(".graph.json") || o.out.ends_with(".graph.json.gz");
  if (o.to == "graph" || (o.to.empty() && graph)) return Target::graph;
  if (o.to == "perfetto" || (o.to.empty() && json)) return Target::perfetto;
  // What looks like a file is no folder that anybody wants.
  std::error_code error;
  const bool named = std::filesystem::path(o.out).has_extension() || o.out.ends_with(".gz");
  const bool is_folder = std::filesystem::is_directory(o.out, error);
  const bool exists = std::filesystem::exists(o.out, error);
  if (json || (named && !is_folder && o.to.empty()) || (exists && !is_folder)) {
    return bad_input(
        "is a file, but Chakra needs a folder for one file a rank", "--out " + o.out,
        json ? ""
             : "Perfetto's end in .json or .json.gz, graphs in .graph.json; --to chakra "
               "makes a folder of any name");
  }
  return Target::chakra;
}

Result<Written> converted(const ConvertOptions& o, const Common& common) {
  ORRERY_TRY(const Target target, target_of(o));
  ORRERY_TRY(const TraceSources sources, sources_of(o.files.files));
  if (sources.format->chakra_of_ranks != nullptr && target != Target::chakra) {
    return unsupported(
        "is " + std::string(sources.format->name) + ", which converts to chakra only",
        sources.files[0], "write --to chakra --out FOLDER");
  }
  ORRERY_RETURN_IF_ERROR(check_scopes(o, sources, target));
  ORRERY_RETURN_IF_ERROR(check_scopes(o.files, {sources}, ChakraUse::as_graph));
  RecordedRun run;
  if (sources.format->recording != nullptr) {
    TraceFiles files = o.files;
    files.files = sources.files;
    // Chakra's conversion links them itself.
    if (target == Target::perfetto) {
      files.files.insert(files.files.end(), sources.hosts.begin(), sources.hosts.end());
    }
    ORRERY_TRY(run, read_trace_files(files, common));
  }
  const auto write = [&]() -> Result<Written> {
    if (target == Target::perfetto) return write_perfetto(o, sources, run);
    if (target == Target::graph) return write_graph(o, sources, run);
    if (sources.format->recording != nullptr) return profiles_to_chakra(o, sources, run);
    if (sources.format->chakra != nullptr) return rewrite_chakra(o, sources);
    return workload_to_chakra(o, sources);
  };
  ORRERY_TRY(Written out, write());
  if (out.holds_every_event) return out;
  for (std::string& remark : recording_remarks(run.ranks)) out.remarks.push_back(std::move(remark));
  return out;
}

Result<int> convert(const ConvertOptions& o, const Common& common) {
  ORRERY_TRY(const auto written, converted(o, common));
  const bool accepted = written.findings == 0;
  if (common.json) {
    Value document =
        map_of({{"schema_version", 1}, {"accepted", accepted}, {"files", written.ranks}});
    if (!written.groups.empty()) document.set("groups", Value::text(written.groups));
    return answered(to_json(document), accepted);
  }
  constexpr std::size_t kShown = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, written.files.size()); ++i) {
    text += written.files[i] + "\n";
  }
  if (written.files.size() > kShown) {
    text += "... and " + std::to_string(written.files.size() - kShown) + " more\n";
  }
  for (const std::string& remark : written.remarks) text += remark + "\n";
  return answered(text, accepted);
}

}  // namespace

Command trace_convert(CLI::App& trace) {
  auto [app, o] = subcommand<ConvertOptions>(
      trace, "convert",
      "to Chakra .et, one file a rank, to Perfetto and Chrome JSON, or to a graph");
  add_trace_files(app, o->files);
  app->add_option("--out", o->out,
                  "a folder for .et files, or a file *.json, *.json.gz or *.graph.json")
      ->required();
  app->add_option("--to", o->to, "chakra, perfetto or graph; by default what --out looks like")
      ->check(CLI::IsMember({"chakra", "perfetto", "graph"}));
  app->add_option("--prefix", o->prefix, "of the names of .et files: PREFIX.RANK.et");
  app->add_option("--ranks", o->ranks, "of a text workload, how many")
      ->check(CLI::Range(1, 100'000));
  app->add_option("--launching-operator", o->launching,
                  "what work on a device hangs off: the nearest operator before its launch, or the "
                  "one its External id names")
      ->check(CLI::IsMember({"nearest", "external-id"}));
  app->add_flag("--stream-order", o->stream_order,
                "work of a stream depends on what the stream did before");
  app->add_flag("--work", o->work, "num_ops and tensor_size of kernels, from shapes");
  app->add_flag("--fills", o->fills, "keep fills of device memory");
  app->add_flag("--pauses", o->pauses,
                "pauses of host and devices as nodes, operators without what they only wait, and "
                "work of before the recording: for simulators that replay the file");
  app->add_flag("--no-synchronization", o->no_synchronization, "operators do not wait for devices");
  add_chakra_dependencies(app, o->chakra);
  app->footer(
      "Give execution traces beside the profiler's traces; they are told apart by their content.\n"
      "Examples:\n"
      "  orrery trace convert validation/traces/megatron-lm-fork/tp2/kineto_rank0.json.gz "
      "validation/traces/megatron-lm-fork/tp2/pytorch_et_rank0.json.gz --out chakra\n"
      "  orrery trace convert validation/traces/torchrec/sst_long_a2a_optimizer --out run.json.gz");
  return command(app, o, [app](ConvertOptions& options, const Common& common) {
    for (const ScopedOption& option : kScopedOptions) {
      if (app->count(option.name) > 0) options.given.emplace_back(option.name);
    }
    // What a cut file lost cannot be waited for.
    if (options.files.partial) options.chakra.absent = AbsentDependencies::count_as_done;
    return convert(options, common);
  });
}

}  // namespace orrery::cli
