#include <cmath>

#include "document/result_key.h"
#include "document/results.h"
#include "report/plans/plan_reports.h"

namespace orrery {
namespace {

// JSON has no infinity: a figure that cannot be stated is null.
std::optional<double> finite(double d) {
  return std::isfinite(d) ? std::optional(d) : std::nullopt;
}

struct ComputeLines {
  const Breakdown& of;
};

struct ExposedLines {
  const Breakdown& of;
};

struct NumberedStage {
  std::size_t number;
  const StageReport& report;
};

struct EstimateDocument {
  const Estimate& estimate;
  const Subject& subject;
  const EstimateExtras& extras;
};

struct ParetoPoint {
  const Estimate& estimate;
};

struct SearchDocument {
  const SearchResult& result;
  const Subject& subject;
  Seconds elapsed;
  const SearchExtras& extras;
};

constexpr auto kComputing = [](const ComputeLines& lines, Category c) { return lines.of[c]; };
constexpr auto kExposed = [](const ExposedLines& lines, Category c) { return lines.of[c]; };
constexpr auto kLine = [](const Breakdown& lines, Category c) { return lines[c]; };

}  // namespace

template <>
inline constexpr auto kResults<ComputeLines> = table<ComputeLines>(
    "computing", "Time of computing by class of operator.",
    entry<Category::attention_projection>("query, key, value and output products", kComputing),
    entry<Category::attention_core>("softmax(q k) v", kComputing),
    entry<Category::feed_forward>("dense feed-forward products", kComputing),
    entry<Category::experts>("products of experts", kComputing),
    entry<Category::router>("choice of experts", kComputing),
    entry<Category::normalization>("norms", kComputing),
    entry<Category::elementwise>("activations, residuals, rotary embedding, permutation",
                                 kComputing),
    entry<Category::embedding>("embedding look-up and its gradient", kComputing),
    entry<Category::logits>("product with the vocabulary", kComputing),
    entry<Category::loss>("cross-entropy", kComputing),
    entry<Category::convolution>("convolutions", kComputing),
    entry<Category::contention>("what computing loses to communication that runs beside it",
                                kComputing));

template <>
inline constexpr auto kResults<ExposedLines> =
    table<ExposedLines>("exposed", "Communication that nothing computes beside, by mesh axis.",
                        entry<Category::exposed_tp>("tensor parallel", kExposed),
                        entry<Category::exposed_cp>("context parallel", kExposed),
                        entry<Category::exposed_ep>("expert parallel", kExposed),
                        entry<Category::exposed_pp>("pipeline parallel", kExposed),
                        entry<Category::exposed_dp>("data parallel", kExposed));

template <>
inline constexpr auto kResults<Breakdown> = table<Breakdown>(
    "breakdown",
    "Where the time of the critical stage goes, in seconds. Where two things overlap, the time "
    "belongs to computing. The numbers add up to step_time_s exactly (whole picoseconds as "
    "decimals).",
    field("compute", "computing, by class of operator", [](auto& b) { return ComputeLines{b}; }),
    entry<Category::recompute>("activations computed again", kLine),
    field("exposed_communication", "communication that nothing computes beside, by mesh axis",
          [](auto& b) { return ExposedLines{b}; }),
    entry<Category::bubble>("waiting for other stages to compute", kLine),
    entry<Category::optimizer>("optimizer step", kLine),
    entry<Category::host>("waiting for the host processor", kLine));

template <>
inline constexpr auto kResults<MemoryReport> = table<MemoryReport>(
    "memory", "Memory of one GPU at its fullest moment; the first seven add up to peak.",
    field<&MemoryReport::parameters>("parameters, bytes"),
    field<&MemoryReport::gradients>("gradients, bytes"),
    field<&MemoryReport::optimizer_states>("master weights and moments, bytes"),
    field<&MemoryReport::activations>("kept by microbatches in flight, bytes"),
    field<&MemoryReport::transient>("what exists only at the fullest moment: gradients of "
                                    "activations, activations computed again, the loss, gathered "
                                    "weights; bytes"),
    field<&MemoryReport::buffers>(
        "buffers of the framework and the communication library, context, bytes"),
    field<&MemoryReport::fragmentation>("rounding of the allocator, bytes"),
    field<&MemoryReport::peak>("expected peak, bytes"),
    field<&MemoryReport::pessimistic>("peak if the allocator gives no cached memory back, bytes"),
    field<&MemoryReport::outside>("outside_allocator",
                                  "of buffers: context and communication library, which no "
                                  "statistic of the allocator shows, bytes"));

template <>
inline constexpr auto kResults<NumberedStage> = table<NumberedStage>(
    "stage", "One pipeline device.", field<&NumberedStage::number>("stage", "number, from 0"),
    field("layers", "layers of each chunk", [](auto& s) { return s.report.layers; }),
    field("forward_s", "forward of one microbatch through all chunks",
          [](auto& s) { return s.report.forward; }),
    field("backward_s", "backward of one microbatch through all chunks",
          [](auto& s) { return s.report.backward; }),
    field("busy_s",
          "time that its passes take in a step, with the communication that they expose; "
          "without bubbles, waiting for other stages, reductions and the optimizer",
          [](auto& s) { return s.report.busy; }),
    field("end_s", "when its last gradient is ready", [](auto& s) { return s.report.end; }),
    field("memory_bytes", "its memory by what takes it", [](auto& s) { return s.report.memory; }),
    field("memory_moment", "when its memory is fullest",
          [](auto& s) { return s.report.memory.moment; }),
    field("memory_rank_class", "which ranks this is the memory of",
          [](auto& s) { return s.report.memory.rank_class; }),
    optional_field("site", "of the cluster, where its sites differ and stages divide them",
                   [](auto& s) {
                     return s.report.site.empty() ? std::nullopt : std::optional(s.report.site);
                   }),
    optional_field(
        "memory_capacity_bytes", "of its accelerators, where those of sites differ", [](auto& s) {
          return s.report.site.empty() ? std::nullopt : std::optional(s.report.memory_capacity);
        }));

template <>
inline constexpr auto kResults<Derivation> = table<Derivation>(
    "derivation", "One figure with its derivation.", field<&Derivation::figure>("which figure"),
    field<&Derivation::formula>("in symbols"), field<&Derivation::inputs>("with numbers"),
    field<&Derivation::value>("with its unit"),
    field<&Derivation::source>("paper, section, catalog entry"));

template <>
inline constexpr auto kResults<StepTimeInterval> = table<StepTimeInterval>(
    "interval", "An interval of step times.",
    field("low", "its lower end, seconds", [](auto& i) { return round_to_picoseconds(i.low); }),
    field("high", "its upper end, seconds", [](auto& i) { return round_to_picoseconds(i.high); }));

template <>
inline constexpr auto kResults<Estimate> = table<Estimate>(
    "estimate", "One predicted plan: a document of estimate without its heading.",
    optional_field("workload", "what is run, if it is not training",
                   [](auto& e) {
                     const Workload workload = e.training.workload;
                     return workload == Workload::training ? std::nullopt : std::optional(workload);
                   }),
    field<&Estimate::gpus>("GPUs used"),
    field<&Estimate::microbatches>("microbatches of a step per data-parallel rank"),
    field("step_time_s", "time of one training step", [](auto& e) { return e.breakdown.total(); }),
    field<&Estimate::interval>(
        "step_time_interval_s",
        "the step time lies within it with the probability interval_level, or "
        "with an unknown one where that is null"),
    field("interval_level",
          "share of measured steps that lie within such intervals; null: not calibrated for such "
          "models, see interval_basis",
          [](auto& e) {
            return e.interval.calibrated ? std::optional(e.interval.level) : std::nullopt;
          }),
    field<&Estimate::interval, &StepTimeInterval::basis>(
        "interval_basis",
        "what the interval is made of: the errors on sources left out of calibration, by parts of "
        "the step, and how many sources measured such steps"),
    field<&Estimate::interval, &StepTimeInterval::extrapolates>("extrapolates",
                                                                "no step like this was measured"),
    field<&Estimate::interval, &StepTimeInterval::distance>(
        "extrapolation",
        "why it extrapolates, if it does; the nearest measured step, and how far this is from it"),
    field("mfu",
          "model FLOPs utilisation, share of peak: forward and backward of every matrix product "
          "and of full attention, with logits, without embedding look-up and recomputation",
          [](auto& e) { return finite(e.mfu); }),
    field("causal_mfu",
          "the same without the pairs of tokens that causal attention leaves out; equal to mfu "
          "where no attention is causal",
          [](auto& e) { return finite(e.causal_mfu); }),
    field("hfu", "mfu with recomputation", [](auto& e) { return finite(e.hfu); }),
    field("tflops_per_gpu", "model TFLOP/s per GPU",
          [](auto& e) { return finite(e.achieved_per_gpu.value() / 1e12); }),
    field("tokens_per_s", "tokens a second of all GPUs together",
          [](auto& e) { return finite(e.tokens_per_second); }),
    field<&Estimate::peak_memory>("peak_memory_bytes", "expected peak of the fullest stage"),
    field<&Estimate::peak_memory_stage>("that stage"),
    field<&Estimate::pessimistic_memory>(
        "pessimistic_memory_bytes",
        "peak if the allocator gives no cached memory back, of the stage where that is most"),
    field<&Estimate::memory_capacity>("memory_capacity_bytes", "memory of a GPU"),
    field("fits", "false only if the verdict is does-not-fit",
          [](auto& e) { return e.verdict != Verdict::does_not_fit; }),
    field<&Estimate::verdict>("whether it fits"),
    field<&Estimate::bottleneck>("what limits the step, in one sentence"),
    field<&Estimate::critical_stage>("the stage that ends last"),
    field<&Estimate::breakdown>("breakdown_s", "where the time of the critical stage goes"),
    field<&Estimate::plan>("the plan with every default filled in"),
    field<&Estimate::training>("what is trained, with every default filled in"),
    field("numeric_changes", "what the plan computes in other formats than training in bf16",
          [](auto& e) { return numeric_changes(e.training, e.plan); }),
    field<&Estimate::software>("software profile, an entry of `orrery catalog software`"),
    field("stages", "every pipeline device",
          [](auto& e) {
            std::vector<NumberedStage> out;
            for (const StageReport& s : e.stages) out.push_back({out.size(), s});
            return out;
          }),
    field<&Estimate::assumed>("every default that was filled in, in words"));

template <>
inline constexpr auto kResults<Subject> = table<Subject>(
    "subject", "", field<&Subject::model>("name of the model"),
    optional_field("adapters", "low-rank adapters, if the model is frozen beside them",
                   [](auto& s) {
                     using Stated = WithoutDefaults<Adapters>;
                     return s.adapters ? std::optional(Stated{*s.adapters}) : std::nullopt;
                   }),
    field<&Subject::cluster>("name of the cluster"),
    field<&Subject::size, &ModelSize::parameters>("parameters", "of the model, adapters included"),
    field<&Subject::size, &ModelSize::active_parameters>(
        "active_parameters", "those that a token meets: of experts the chosen ones"),
    field<&Subject::size, &ModelSize::flops_per_token>(
        "flops_per_token", "model FLOPs of a token, by which mfu is counted"));

template <>
inline constexpr auto kResults<Sensitivity> = table<Sensitivity>(
    "sensitivity", "The step with 10 % more of one resource.",
    field<&Sensitivity::resource>("which: compute, hbm, scale-up, network, latency"),
    field("step_time_s", "time of one step with more of it",
          [](auto& s) { return round_to_picoseconds(s.step_time); }),
    field("saved", "share of the step time", [](auto& s) { return finite(s.saved); }));

template <>
inline constexpr auto kResults<AxisTraffic> = table<AxisTraffic>(
    "axis_traffic", "What one mesh axis sends in a step.",
    field<&AxisTraffic::axis>("the group of ranks: tensor, context, replicas, pipeline, ..."),
    field("bytes", "of one GPU on average, by fabric level from the inside out", [](auto& a) {
      std::vector<double> out;
      for (const Bytes b : a.by_level) out.push_back(b.value());
      return out;
    }));

template <>
inline constexpr auto kResults<LevelTraffic> =
    table<LevelTraffic>("level_traffic", "What all axes send over one fabric level in a step.",
                        field<&LevelTraffic::level>("name of the level"),
                        field("bytes", "of one GPU on average, that leave a unit below the level",
                              [](auto& l) { return finite(l.bytes.value()); }),
                        field("use", "share of the step in which they would fill the level",
                              [](auto& l) { return finite(l.use); }));

template <>
inline constexpr auto kResults<StepTraffic> = table<StepTraffic>(
    "traffic", "What a step sends over the network, counted at the sender.",
    field<&StepTraffic::axes>("by mesh axis"), field<&StepTraffic::levels>("by fabric level"));

template <>
inline constexpr auto kResults<AxisFlows> = table<AxisFlows>(
    "axis_flows", "Communications of one kind of one mesh axis, summed over pipeline devices.",
    field<&AxisFlows::axis>("the group of ranks: tensor, context, replicas, pipeline, ..."),
    field<&AxisFlows::collective>("the collective, or message"),
    field<&AxisFlows::times>("how often it runs in a step"),
    field<&AxisFlows::closed>("closed_form_s", "by the closed form"),
    field<&AxisFlows::alone>("alone_s", "by flows that have the links to themselves"),
    field<&AxisFlows::shared>("shared_s", "by flows beside what runs at the same time"),
    field<&AxisFlows::busiest>("busiest_level", "whose links it fills most"));

template <>
inline constexpr auto kResults<StepFlows> =
    table<StepFlows>("network_flows", "The step with its communications as flows.",
                     field<&StepFlows::closed>("closed_form_s", "the step by closed forms"),
                     field<&StepFlows::time>("step_time_s", "the step by flows"),
                     field<&StepFlows::resources>("links that are used differently"),
                     field<&StepFlows::axes>("by mesh axis and collective"));

template <>
inline constexpr auto kResults<NumericChange> = table<NumericChange>(
    "numeric change", "What a plan computes in other formats than training in bf16.",
    field<&NumericChange::what>("in words"),
    field<&NumericChange::deviation>("relative_rms", "of a small experiment, from golden values"),
    field<&NumericChange::times_bf16>("the same over that of bf16"),
    field<&NumericChange::deviation_class>("class", "up to 1/2, 2, 32 times bf16, or more"));

template <>
inline constexpr auto kResults<FormatChoice> = table<FormatChoice>(
    "format choice", "The plan with its products in one format.",
    field<&FormatChoice::format>("of the products"), field<&FormatChoice::chosen>("by the plan"),
    field("step_time_s", "time of one step",
          [](auto& c) { return round_to_picoseconds(c.step_time); }),
    field("saved", "share of the step time in bf16", [](auto& c) { return finite(c.saved); }),
    field<&FormatChoice::deviation>("relative_rms", "of a product with K = 4,096"),
    field<&FormatChoice::times_bf16>("the same over that of bf16"),
    field<&FormatChoice::deviation_class>("class", "up to 1/2, 2, 32 times bf16, or more"),
    field<&FormatChoice::on_front>("no other format is faster and deviates less"));

template <>
inline constexpr auto kResults<PlanNumerics> = table<PlanNumerics>(
    "numerics", "What a plan changes against training in bf16, and a front of time and deviation.",
    field<&PlanNumerics::changes>("that the plan makes"),
    field<&PlanNumerics::formats>("that the accelerator has, the fastest first"));

template <>
inline constexpr auto kResults<OperatorShare> = table<OperatorShare>(
    "operator share", "Kernels of one name in all layers of one microbatch.",
    field<&OperatorShare::name>("of the operator"),
    field<&OperatorShare::category>("the line of the breakdown that it is part of"),
    field<&OperatorShare::count>("kernels, or chains of them"),
    field<&OperatorShare::time>("time_s", "of all of them"),
    field<&OperatorShare::time_share>("of the time of all operators"),
    field<&OperatorShare::flops_share>("of the model's FLOPs; 0: it has none that count"));

template <>
inline constexpr auto kResults<LayerAttention> = table<LayerAttention>(
    "layer attention", "What one attention of a layer sees.",
    field("layer", "its number", [](auto& a) { return std::int64_t(a.layer); }),
    field<&LayerAttention::block>("kind of layer"), field<&LayerAttention::name>("which one"),
    field<&LayerAttention::queries>("tokens of one sequence"),
    field<&LayerAttention::keys>("tokens that each of them sees"));

template <>
inline constexpr auto kResults<OperatorShares> = table<OperatorShares>(
    "operator shares", "A step's computing by operator.",
    field<&OperatorShares::operators>("the longest first"),
    field<&OperatorShares::attention>("of every layer, in the order of execution"));

template <>
inline constexpr auto kResults<EstimateDocument> = table<EstimateDocument>(
    "estimate document", "One predicted training step.", schema_version<1>(),
    fields_within([](auto& d) -> const Subject& { return d.subject; }),
    fields_within([](auto& d) -> const Estimate& { return d.estimate; }),
    optional_field("explain", "with --explain: the derivation of every figure",
                   [](auto& d) { return d.extras.explained; }),
    optional_field("sensitivity", "with --sensitivity: what 10 % more of a resource would gain",
                   [](auto& d) { return d.extras.sensitivity; }),
    optional_field("traffic", "with --traffic: what crosses the network",
                   [](auto& d) { return d.extras.traffic; }),
    optional_field("network", "with --network flows: communications as flows",
                   [](auto& d) { return d.extras.flows; }),
    optional_field("numerics", "with --numerics: what the plan changes against training in bf16",
                   [](auto& d) { return d.extras.numerics; }),
    optional_field("run", "with --tokens: the run if nothing fails",
                   [](auto& d) { return d.extras.run; }),
    optional_field("by_operator", "with --by operator: where computing goes",
                   [](auto& d) { return d.extras.operators; }));

template <>
inline constexpr auto kResults<ParetoPoint> = table<ParetoPoint>(
    "point", "A plan that no other plan beats in both step time and memory.",
    field("step_time_s", "time of one step", [](auto& p) { return p.estimate.breakdown.total(); }),
    field("peak_memory_bytes", "expected peak", [](auto& p) { return p.estimate.peak_memory; }),
    field("mfu", "model FLOPs utilisation", [](auto& p) { return finite(p.estimate.mfu); }),
    field("plan", "the plan; `orrery estimate` gives its stages",
          [](auto& p) { return p.estimate.plan; }));

template <>
inline constexpr auto kResults<RunnerUp> = table<RunnerUp>(
    "runner_up", "The best plan with another value on one axis.",
    field<&RunnerUp::axis>("field of the plan"),
    field<&RunnerUp::winner>("its value in the best plan"),
    field<&RunnerUp::other>("its value here"),
    field("step_time_s", "time of one step",
          [](auto& r) { return r.best_other.breakdown.total(); }),
    field("slowdown", "step time over that of the best plan, minus 1",
          [](auto& r, const SearchResult& result) {
            return result.plans.empty() ? 0.0 : slowdown(result.plans[0], r.best_other);
          }),
    field("peak_memory_bytes", "expected peak", [](auto& r) { return r.best_other.peak_memory; }),
    field("breakdown_s", "where the time of its critical stage goes",
          [](auto& r) { return r.best_other.breakdown; }),
    field("plan", "the plan", [](auto& r) { return r.best_other.plan; }));

template <>
inline constexpr auto kResults<NearMiss> = table<NearMiss>(
    "near_miss", "A plan that does not fit.",
    field("step_time_lower_bound_s", "no step of this plan is shorter",
          [](auto& m) { return round_to_picoseconds(m.bound); }),
    field<&NearMiss::peak_memory>("peak_memory_bytes", "what it needs"),
    field<&NearMiss::shortfall>("shortfall_bytes", "what it lacks"),
    field<&NearMiss::stage>("its fullest stage"), field<&NearMiss::plan>("the plan"));

template <>
inline constexpr auto kResults<PlanAcrossSites> = table<PlanAcrossSites>(
    "plan_across_sites", "A plan, and what it sends between sites.",
    field<&PlanAcrossSites::name>("what was chosen for the sites, or which axis lies outermost"),
    field("step_time_s", "time of one step", [](auto& p) { return p.estimate.breakdown.total(); }),
    field("bytes_across", "that leave a site in one step, of one GPU on average",
          [](auto& p) { return finite(p.across.value()); }),
    field("peak_memory_bytes", "expected peak of the fullest stage",
          [](auto& p) { return p.estimate.peak_memory; }),
    field("mfu", "model FLOPs utilisation", [](auto& p) { return finite(p.estimate.mfu); }),
    field("plan", "the plan", [](auto& p) { return p.estimate.plan; }));

template <>
inline constexpr auto kResults<LinkChange> =
    table<LinkChange>("link_change", "The best plan where the link between the sites is another.",
                      field<&LinkChange::change>("what is changed"),
                      field("step_time_s", "time of one step",
                            [](auto& c) { return round_to_picoseconds(c.step_time); }));

template <>
inline constexpr auto kResults<LinkNeeds> = table<LinkNeeds>(
    "link_needs", "What an accelerator keeps under way to fill its part of the link.",
    field<&LinkNeeds::round_trip>("round_trip_s", "of the link"),
    field("rate_bytes_per_s", "of one accelerator of the best plan while it crosses",
          [](auto& n) { return finite(n.rate.value()); }),
    field("in_flight_bytes", "rate times round trip",
          [](auto& n) { return finite(n.in_flight.value()); }));

template <>
inline constexpr auto kResults<LinkVariation> = table<LinkVariation>(
    "link_variation", "A field of the link between the sites that takes several values.",
    field<&LinkVariation::field>("its name"), field<&LinkVariation::values>("its values"));

template <>
inline constexpr auto kResults<VariedLink> = table<VariedLink>(
    "varied_link", "The search over another link between the sites.",
    field<&VariedLink::values>("of each variation"),
    field<&VariedLink::production>("production_s", "step time of the best plan for one site"),
    field<&VariedLink::best_alone>("best_alone_s", "of the best single choice"),
    field<&VariedLink::best>("best_s", "of the joint choice"));

template <>
inline constexpr auto kResults<AcrossSites> = table<AcrossSites>(
    "across_sites", "What crosses between the sites of a cluster.",
    field<&AcrossSites::level>("the outermost level of the network"),
    field<&AcrossSites::sites>("units below it"),
    field<&AcrossSites::production>("the best plan for one site, run across them"),
    field<&AcrossSites::production_in_one_site>("production_in_one_site_s",
                                                "its step time in one site"),
    field<&AcrossSites::one_axis>("that plan with one thing chosen for the sites, fastest first"),
    optional_field("together", "these choices combined, where they are a plan that fits",
                   [](auto& a) { return a.together; }),
    field<&AcrossSites::outermost>("the best plan for each axis across the sites, fastest first"),
    field<&AcrossSites::best>("the best plan of all"),
    field<&AcrossSites::changes>("the best plan over other links"),
    field<&AcrossSites::needs>("what the link asks of the transport"),
    field<&AcrossSites::variations>("with --vary: what of the link takes other values"),
    field<&AcrossSites::varied>("with --vary: their combinations, the last varying fastest"),
    field<&AcrossSites::cut_short>("whether a limit of time ended some of the searches early"));

template <>
inline constexpr auto kResults<Judged> = table<Judged>(
    "judged", "Plans judged by a function of Python.",
    field<&Judged::plans>("plans that it was asked about"),
    field<&Judged::not_allowed>("of these: its constraint does not hold"),
    field<&Judged::failed>("of these: set aside by an error, a time limit or too much memory"),
    field<&Judged::failure>("the first of these errors; empty: none"),
    field<&Judged::values>("what the objective makes of each of `plans`"));

template <>
inline constexpr auto kResults<SearchDocument> = table<SearchDocument>(
    "search document", "The best plans of a space.", schema_version<1>(),
    fields_within([](auto& d) -> const Subject& { return d.subject; }),
    field("considered", "shape-valid plans, each with its own memory and lower bound computed",
          [](auto& d) { return d.result.considered; }),
    field("too_large", "of these: do not fit in memory",
          [](auto& d) { return d.result.too_large; }),
    field("bounded", "of these: rejected by the lower bound",
          [](auto& d) { return d.result.bounded; }),
    field("evaluated", "of these: simulated", [](auto& d) { return d.result.evaluated; }),
    field("improved", "simulated beyond these because of --all-axes",
          [](auto& d) { return d.result.improved; }),
    optional_field("judged", "with --python: what its function made of the plans",
                   [](auto& d) { return d.result.judged; }),
    field("not_searched", "fields of a plan that were neither stated nor searched",
          [](auto& d) { return d.result.not_searched; }),
    field("schedules", "pipeline schedules that were searched",
          [](auto& d) { return d.result.schedules; }),
    optional_field("schedules_line", "where nobody stated schedules: why these were searched",
                   [](auto& d) {
                     const std::string& text = d.result.schedules_line;
                     return text.empty() ? std::nullopt : std::optional(text);
                   }),
    optional_field("never_tried", "values of --axis that no valid plan has, each with the reason",
                   [](auto& d) {
                     const std::vector<std::string>& all = d.result.never_tried;
                     return all.empty() ? std::nullopt : std::optional(all);
                   }),
    field("interrupted", "the search was stopped early: these are the best so far",
          [](auto& d) { return d.result.interrupted; }),
    field<&SearchDocument::elapsed>("elapsed_s",
                                    "wall-clock time; the one value that may differ between runs"),
    field("plans", "the best plans, best first; of those that are equal in time and memory one",
          [](auto& d) { return d.result.plans; }),
    field("equal_plans", "for each of plans, how many others have its time and memory",
          [](auto& d) { return d.result.equal_plans; }),
    optional_field("runs", "with --tokens: of each of plans, the run if nothing fails",
                   [](auto& d) { return d.extras.runs; }),
    field("pareto", "step time against memory, fastest first",
          [](auto& d) {
            return std::vector<ParetoPoint>(d.result.pareto.begin(), d.result.pareto.end());
          }),
    field("runners_up", "why the best plan won: the best plan with another value of each axis",
          [](auto& d) { return d.result.runners_up; }),
    optional_field("surely_fitting",
                   "where the best plan is tight in memory: the best whose verdict is fits",
                   [](auto& d) { return d.result.surely_fitting; }),
    field("near_misses", "plans that might be faster but do not fit",
          [](auto& d) { return d.result.near_misses; }),
    field("least_memory", "when nothing fits: the plan that needs least memory",
          [](auto& d) { return d.result.least_memory; }),
    optional_field("across_sites", "with --sites: what crosses between the sites",
                   [](auto& d) { return d.extras.sites; }),
    optional_field("numerics", "with --numerics: what the best plan changes against bf16",
                   [](auto& d) { return d.extras.numerics; }));

Value estimate_json(const Estimate& estimate, const Subject& subject,
                    const EstimateExtras& extras) {
  return answer(EstimateDocument{estimate, subject, extras});
}

std::optional<Value> estimate_json_key(const Estimate& estimate, const Subject& subject,
                                       const EstimateExtras& extras, std::string_view key) {
  if (auto of_estimate = answer_key(estimate, key)) return of_estimate;
  if (auto of_subject = answer_key(subject, key)) return of_subject;
  return answer_key(EstimateDocument{estimate, subject, extras}, key);
}

const Description& estimate_document() { return description_of<EstimateDocument>(); }

Value search_json(const SearchResult& result, const Subject& subject, Seconds elapsed,
                  const SearchExtras& extras) {
  return answer(SearchDocument{result, subject, elapsed, extras}, result);
}

const Description& search_document() { return description_of<SearchDocument>(); }

}  // namespace orrery
