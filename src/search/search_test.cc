// The search against the obvious way: simulate every plan of the space.
#include "search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>

#include "estimate/assumptions.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "lower/random_plan.h"
#include "outcome/sanitizers.h"
#include "plan/plan_rules.h"
#include "search/candidate.h"
#include "search/exhaustive.h"

namespace orrery {
namespace {

TEST(Search, EqualsExhaustiveSearchOnRandomSpaces) {
  std::mt19937 random(5);
  int with_plans = 0;
  for (int round = 0; round < 60; ++round) {
    Scenario s =
        scenario(pick(random, {"llama-3-8b", "mixtral-8x7b", "llama-2-13b"}),
                 pick<std::int64_t>(random, {4, 6, 9}),
                 pick(random, {"h100-sxm:8", "a100-40gb-sxm:16", "h100-sxm:32"}),
                 pick<std::int64_t>(random, {2048, 4096}), pick<std::int64_t>(random, {8, 16, 32}));
    SearchSpace space;
    s.plan.overlap.gradient_reduction = random() % 3 != 0;
    s.plan.overlap.parameter_gather = random() % 3 != 0;
    s.plan.overlap.tensor_parallel = random() % 2 == 0;
    space.tp = {pick<std::int64_t>(random, {1, 2}), 4};
    space.cp = {pick<std::int64_t>(random, {1, 2})};
    space.pp = {1, pick<std::int64_t>(random, {2, 4})};
    space.ep = {pick<std::int64_t>(random, {1, 2})};
    space.micro_batch = {1, 2};
    space.zero = {pick<std::int64_t>(random, {0, 1}), pick<std::int64_t>(random, {2, 3})};
    space.recompute = {Recompute::none, pick(random, {Recompute::selective, Recompute::full})};
    SearchOptions options;
    options.top = 1;
    options.threads = 1 + static_cast<int>(random() % 2);
    std::int64_t considered = 0;
    const auto best = exhaustive(s, space, &considered);
    const auto found = search(s, space, options, Catalog::built_in());
    if (considered == 0) {
      EXPECT_FALSE(found);
      continue;
    }
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->considered, considered);
    EXPECT_EQ(found->considered, found->too_large + found->bounded + found->evaluated);
    ASSERT_EQ(found->plans.empty(), !best.has_value());
    if (!best) {
      EXPECT_FALSE(found->least_memory.empty());
      continue;
    }
    ++with_plans;
    EXPECT_EQ(found->plans.front().step_time, *best);
  }
  EXPECT_GT(with_plans, 20);
}

// Ranks that share tables, tensor parallelism and ZeRO of the MLPs, parts of the batch.
TEST(Search, EqualsExhaustiveSearchOfARecommendationModel) {
  Scenario s;
  s.model = *load_model("dlrm-dcnv2-mlperf", Catalog::built_in());
  s.cluster = *parse_cluster("h100-sxm:16", Catalog::built_in());
  s.training.global_batch = 32768;
  SearchSpace space;
  space.recompute = {Recompute::none};
  std::int64_t considered = 0;
  const auto best = exhaustive(s, space, &considered);
  const auto found = search(s, space, {}, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->considered, considered);
  ASSERT_TRUE(best && !found->plans.empty());
  EXPECT_EQ(found->plans.front().step_time, *best);
  EXPECT_GT(found->plans.front().plan.micro_batch, 1);
}

TEST(Search, TheResultDoesNotDependOnTheNumberOfThreads) {
  const Scenario s = scenario("llama-3-8b", 16, "h100-sxm:64", 8192, 128);
  std::optional<SearchResult> first;
  for (const int threads : {1, 2, 5}) {
    SearchOptions options;
    options.threads = threads;
    const auto found = search(s, {}, options, Catalog::built_in());
    ASSERT_TRUE(found);
    if (!first) {
      first = *found;
      continue;
    }
    EXPECT_EQ(found->considered, first->considered);
    EXPECT_EQ(found->evaluated, first->evaluated);
    ASSERT_EQ(found->plans.size(), first->plans.size());
    for (std::size_t i = 0; i < found->plans.size(); ++i) {
      EXPECT_EQ(found->plans[i].plan, first->plans[i].plan);
      EXPECT_EQ(found->plans[i].step_time, first->plans[i].step_time);
    }
    ASSERT_EQ(found->pareto.size(), first->pareto.size());
    ASSERT_EQ(found->runners_up.size(), first->runners_up.size());
  }
}

TEST(Search, TheFrontIsAFront) {
  SearchOptions options;
  const auto found = search(scenario("llama-3-8b", 16, "h100-sxm:64", 8192, 128), {}, options,
                            Catalog::built_in());
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->pareto.empty());
  EXPECT_EQ(found->pareto.front().step_time, found->plans.front().step_time);
  for (std::size_t i = 1; i < found->pareto.size(); ++i) {
    EXPECT_GE(found->pareto[i].step_time, found->pareto[i - 1].step_time);
    EXPECT_LT(found->pareto[i].peak_memory, found->pareto[i - 1].peak_memory);
  }
  for (const RunnerUp& r : found->runners_up) {
    EXPECT_NE(r.winner, r.other) << r.axis;
    EXPECT_GE(r.best_other.step_time, found->plans.front().step_time) << r.axis;
  }
}

TEST(Search, NothingFitsIsAnAnswerThatNamesTheShortfall) {
  const auto found =
      search(scenario("llama-3.1-405b", 126, "h100-sxm:8", 8192, 8), {}, {}, Catalog::built_in());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->plans.empty());
  ASSERT_EQ(found->least_memory.size(), 1U);
  EXPECT_GT(found->least_memory.front().shortfall, 0);
}

TEST(Search, PlansOfTheSameTimeAndMemoryAreListedOnce) {
  Scenario recommendation;
  recommendation.model = *load_model("dlrm-dcnv2-mlperf", Catalog::built_in());
  recommendation.cluster = *parse_cluster("h100-sxm:8", Catalog::built_in());
  recommendation.training.global_batch = 32768;
  for (const Scenario& s : {scenario("llama-3-8b", 4, "h100-sxm:8", 4096, 64), recommendation}) {
    const auto found = search(s, {}, {}, Catalog::built_in());
    ASSERT_TRUE(found) << found.error().text();
    std::set<std::pair<Seconds, ByteCount>> seen;
    for (const Estimate& e : found->plans) {
      EXPECT_TRUE(seen.emplace(e.step_time, e.peak_memory).second) << to_text(e.plan);
    }
    ASSERT_EQ(found->equal_plans.size(), found->plans.size());
  }
}

// On one device neither the placement of the axes nor ZeRO changes anything: of all simulated plans
// one is listed, and the others are counted.
TEST(Search, CountsThePlansThatEqualTheOneThatItLists) {
  SearchSpace space;
  space.zero = {0, 1, 2, 3};
  space.micro_batch = {1};
  space.recompute = {Recompute::none};
  const auto found =
      search(scenario("llama-3-8b", 2, "h100-sxm:1", 4096, 4), space, {}, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  const std::int64_t equal =
      std::accumulate(found->equal_plans.begin(), found->equal_plans.end(), std::int64_t{0});
  EXPECT_EQ(found->evaluated, static_cast<std::int64_t>(found->plans.size()) + equal);
  EXPECT_GT(equal, 0);
}

TEST(Search, StatedModulesAreThoseOfSelectiveRecomputation) {
  Scenario s = scenario("llama-3-8b", 4, "h100-sxm:8", 4096, 64);
  s.plan.recompute_modules = {RecomputeModule::layernorm, RecomputeModule::mlp};
  const SearchSpace space = default_space(s, {});
  int selective = 0;
  for (const CandidateGroup& group : groups(space, s)) {
    for (const Candidate& c : members(group, space, 4)) {
      const Plan plan = plan_of(c, space, s.plan, s.cluster.accelerators);
      ASSERT_EQ(!plan.recompute_modules.empty(), plan.recompute == Recompute::selective);
      if (plan.recompute == Recompute::selective) ++selective;
    }
  }
  EXPECT_GT(selective, 0);
}

TEST(Search, StatedFieldsAreKept) {
  Scenario s = scenario("llama-3-8b", 8, "h100-sxm:64", 4096, 64);
  SearchSpace space;
  space.dp = {4};
  space.recompute = {Recompute::full};
  space.recompute_layers = {1};
  const auto found = search(s, space, {}, Catalog::built_in());
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->plans.empty());
  for (const Estimate& e : found->plans) {
    EXPECT_EQ(e.plan.dp, 4);
    EXPECT_EQ(e.plan.recompute_layers, 1);
  }
  s.plan.layers = {1, 3, 3, 1};
  const auto uneven = search(s, {}, {}, Catalog::built_in());
  ASSERT_TRUE(uneven);
  for (const Estimate& e : uneven->plans) EXPECT_EQ(e.plan.pp * e.plan.chunks, 4);
}

// In a pipeline no higher ZeRO stage than the software has, unless it is stated.
TEST(Search, ShardsPipelinesAsTheSoftwareCan) {
  Scenario s = scenario("llama-3-8b", 8, "h100-sxm:16", 4096, 64);
  const auto highest = [&](const char* software, std::vector<std::int64_t> zero) {
    s.software = *load_software(Catalog::built_in(), software);
    SearchSpace partial;
    partial.zero = std::move(zero);
    const SearchSpace space = default_space(s, partial);
    std::pair<int, int> out;  // without a pipeline, and with one
    for (const CandidateGroup& group : groups(space, s)) {
      for (const Candidate& c : members(group, space, 8)) {
        int& most = c.pp > 1 ? out.second : out.first;
        most = std::max<int>(most, c.zero);
      }
    }
    return out;
  };
  EXPECT_EQ(highest("megatron-core-0.12", {}), (std::pair{3, 1}));
  EXPECT_EQ(highest("torchtitan", {}), (std::pair{3, 3}));
  EXPECT_EQ(highest("megatron-core-0.12", {2}), (std::pair{2, 2}));
}

TEST(Search, AnInterruptedSearchGivesWhatItHas) {
  const std::atomic<bool> interrupted{true};
  SearchOptions options;
  options.interrupted = &interrupted;
  const auto found =
      search(scenario("llama-3-8b", 8, "h100-sxm:8", 4096, 8), {}, options, Catalog::built_in());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->interrupted);
}

TEST(Search, ItsBestPlanAssumesWhatItsEstimateDoes) {
  Scenario s = scenario("llama-3-8b", 4, "gaudi3:8", 2048, 8);
  SearchOptions options;
  options.top = 1;
  const auto found = search(s, {}, options, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_FALSE(found->plans.empty());
  const Estimate& best = found->plans.front();
  s.plan = best.plan;
  const auto alone = predict(s, Catalog::built_in());
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_FALSE(best.assumed.empty());
  EXPECT_EQ(best.assumed, assumptions(*alone));
}

// What it was not told is assumed; what it chose is not.
TEST(Search, AssumesTheTrainingThatNobodyStated) {
  Scenario s = scenario("llama-3-8b", 4, "h100-sxm:8", 0, 0);
  SearchOptions options;
  options.top = 1;
  const auto found = search(s, {}, options, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  std::string all;
  for (const std::string& item : found->plans.front().assumed) all += item + "\n";
  EXPECT_NE(all.find("sequence length "), std::string::npos) << all;
  EXPECT_NE(all.find("global batch "), std::string::npos) << all;
  EXPECT_NE(all.find("software: "), std::string::npos) << all;
  EXPECT_EQ(all.find("dp = "), std::string::npos) << all;
  EXPECT_EQ(all.find("schedule "), std::string::npos) << all;
}

TEST(Search, ModulesThatNoPlanOfTheSpaceCanHaveAreAnError) {
  Scenario s = scenario("llama-3-8b", 4, "h100-sxm:8", 2048, 8);
  s.plan.recompute_modules = {RecomputeModule::moe};
  const auto absent = search(s, {}, {}, Catalog::built_in());
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().text(),
            "plan: recompute_modules moe needs experts; llama-3-8b has none");
  s.plan.recompute_modules = {RecomputeModule::layernorm};
  EXPECT_TRUE(search(s, {}, {}, Catalog::built_in()));
  SearchSpace full;
  full.recompute = {Recompute::full};
  const auto unused = search(s, full, {}, Catalog::built_in());
  ASSERT_FALSE(unused);
  EXPECT_EQ(unused.error().text(), "plan: recompute_modules layernorm needs recompute=selective");
}

// One reason, not one of an example plan: no plan of the space could have the units.
TEST(Search, AFormatThatTheAcceleratorLacksIsItsOwnError) {
  Scenario s = scenario("llama-3-8b", 4, "h100-sxm:8", 2048, 8);
  s.training.precision = NumberFormat::mxfp8;
  const auto found = search(s, {}, {}, Catalog::built_in());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::bad_input);
  EXPECT_EQ(found.error().text(),
            "precision: " + format_problem(s.cluster.accelerator, NumberFormat::mxfp8));
}

SearchOptions all_axes() {
  SearchOptions options;
  options.top = 1;
  options.all_axes = true;
  return options;
}

// Over everything but the degrees and microbatches of the scenario's plan, and what a search leaves
// alone.
Result<SearchResult> search_in_degrees_of(Scenario s) {
  SearchSpace space;
  space.tp = {s.plan.tp};
  space.cp = {s.plan.cp};
  space.pp = {s.plan.pp};
  space.ep = {s.plan.ep};
  space.micro_batch = {s.plan.micro_batch};
  space.zero = {0, 1, 2, 3};
  // What is offloaded, quantised or averaged rarely is kept as it is stated.
  Plan kept;
  kept.offload_optimizer = s.plan.offload_optimizer;
  kept.offload_share = s.plan.offload_share;
  kept.offload_parameters = s.plan.offload_parameters;
  kept.offload_activations = s.plan.offload_activations;
  kept.quantized_weights = s.plan.quantized_weights;
  kept.quantized_gradients = s.plan.quantized_gradients;
  kept.local_steps = s.plan.local_steps;
  kept.averaging = s.plan.averaging;
  kept.quadratic = s.plan.quadratic;
  kept.gradient_code = s.plan.gradient_code;
  kept.gradient_bucket_mib = s.plan.gradient_bucket_mib;
  kept.halves = s.plan.halves;
  kept.overlap.tensor_tiles = s.plan.overlap.tensor_tiles;
  kept.overlap.outer = s.plan.overlap.outer;
  if (trains_copies_apart(kept)) kept.shard_group = s.plan.shard_group;
  s.plan = kept;
  return search(s, space, all_axes(), Catalog::built_in());
}

// What `scenario.plan` takes, if it fits.
std::optional<Seconds> step_time(const Scenario& scenario) {
  const auto step = predict(scenario, Catalog::built_in());
  if (!step) return std::nullopt;
  const Estimate e = estimate(*step);
  if (e.verdict == Verdict::does_not_fit) return std::nullopt;
  return e.step_time;
}

// The scenarios of the documented commands "orrery estimate MODEL --on ... --plan ...", but for
// those with options that this reading does not know.
std::vector<Scenario> documented_scenarios() {
  std::vector<std::filesystem::path> pages = {ORRERY_SOURCE_DIR "/README.md"};
  for (const auto& page : std::filesystem::directory_iterator(ORRERY_SOURCE_DIR "/docs")) {
    if (page.path().extension() == ".md") pages.push_back(page.path());
  }
  const Catalog& catalog = Catalog::built_in();
  std::vector<Scenario> out;
  for (const auto& page : pages) {
    std::ifstream file(page);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string word;
      if (!(words >> word) || word != "$" || !(words >> word) || word != "orrery" ||
          !(words >> word) || word != "estimate" || !(words >> word)) {
        continue;
      }
      Scenario s;
      const auto model = load_model(word, catalog);
      bool known = model.has_value();
      bool planned = false;
      if (known) s.model = *model;
      for (std::string value; known && words >> word && word != "|";) {
        if (word == "-q" || word == "--explain" || word == "--expanded") continue;
        if (!(words >> value)) break;
        if (word == "--on") {
          const auto cluster = parse_cluster(value, catalog);
          known = cluster.has_value();
          if (known) s.cluster = *cluster;
        } else if (word == "--seq") {
          s.training.sequence_length = std::stoll(value);
        } else if (word == "--global-batch") {
          s.training.global_batch = std::stoll(value);
        } else if (word == "--precision") {
          s.training.precision = *parse_enum<NumberFormat>(value);
        } else if (word == "--software") {
          s.software = *load_software(catalog, value);
        } else if (word == "--plan") {
          const auto plan = parse_plan(value);
          known = planned = plan.has_value();
          if (known) s.plan = *plan;
        } else {
          known = word == "--html" || word == "--timeline";
        }
      }
      if (known && planned && s.training.sequence_length > 0) out.push_back(std::move(s));
    }
  }
  return out;
}

TEST(Search, IsNoSlowerThanAnyPlanOfTheDocumentsInItsDegrees) {
  int compared = 0;
  int seen = 0;
  for (const Scenario& documented : documented_scenarios()) {
    if (kSanitized && seen++ % 4 != 0) continue;
    const auto known = step_time(documented);
    if (!known) continue;
    const auto found = search_in_degrees_of(documented);
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_FALSE(found->plans.empty()) << to_text(documented.plan);
    EXPECT_LE(found->plans.front().step_time.value(), known->value())
        << to_text(documented.plan) << " beats " << to_text(found->plans.front().plan);
    ++compared;
  }
  EXPECT_GE(compared, kSanitized ? 2 : 8);
}

TEST(Search, RandomPlansOverAllAxesDoNotBeatIt) {
  std::mt19937 random(12);
  int compared = 0;
  for (int round = 0; compared < 5 && round < 4000; ++round) {
    const auto drawn = random_case(random);
    if (!drawn || drawn->cluster.accelerators > 32 ||
        drawn->training.workload != Workload::training ||
        (*find_schedule(drawn->plan.schedule))->asynchronous) {
      continue;
    }
    Scenario s;
    s.model = drawn->model;
    s.cluster = drawn->cluster;
    s.training = drawn->training;
    s.software = drawn->software;
    s.plan = drawn->plan;
    const auto known = step_time(s);
    if (!known) continue;
    const auto found = search_in_degrees_of(s);
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_FALSE(found->plans.empty());
    EXPECT_LE(found->plans.front().step_time.value(), known->value())
        << s.model.name << " on " << s.cluster.accelerators << ": " << to_text(drawn->plan)
        << " beats " << to_text(found->plans.front().plan);
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

// Sums that travel beside products leave no room for the gathers of sequence parallelism, which a
// search therefore leaves out unless it is stated.
TEST(Search, FindsPlansOfModelsThatHideTheirSums) {
  Scenario s = scenario("llama-3-8b", 8, "h100-sxm:8", 2048, 8);
  for (Block& block : s.model.blocks) block.residual = Residual::ladder;
  SearchSpace space;
  space.tp = {4};
  const auto found = search(s, space, {}, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_FALSE(found->plans.front().plan.sequence_parallel);
  space.stated = {"sequence_parallel"};
  const auto refused = search(s, space, {}, Catalog::built_in());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("write sequence_parallel=false"));
}

// Axes that a search does not try are named; a stated one is neither tried nor named.
TEST(Search, NamesTheAxesThatItDoesNotSearch) {
  const Scenario s = scenario("llama-3-8b", 4, "h100-sxm:8", 4096, 16);
  SearchSpace space;
  space.stated = {"attention", "overlap.pipeline"};
  const auto usual = search(s, space, {}, Catalog::built_in());
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->not_searched,
            (std::vector<std::string>{
                "layers", "context_groups", "context_placement", "gradient_shard", "group",
                "inner_ring", "loss_tiles", "mlp_tiles", "overlap", "prefetch", "secondary_shard",
                "sequence_parallel", "shard_group", "ulysses", "weight_shard"}));
  const auto all = search(s, space, all_axes(), Catalog::built_in());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->not_searched, (std::vector<std::string>{"layers"}));
  EXPECT_GT(all->improved, 0);
  EXPECT_LE(all->plans.front().step_time, usual->plans.front().step_time);
  EXPECT_EQ(all->plans.front().plan.attention, AttentionKernel::library);
}

// What a deadline that is over leaves: the plans that were priced until then, the most promising of
// them simulated.
TEST(Search, ADeadlineEndsItWithTheBestSoFar) {
  SearchOptions options;
  options.progress = [&](double fraction, const std::string&) {
    if (fraction > 0) options.deadline = std::chrono::steady_clock::now();
  };
  const auto found =
      search(scenario("llama-3-8b", 8, "h100-sxm:8", 4096, 8), {}, options, Catalog::built_in());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->interrupted);
  EXPECT_FALSE(found->plans.empty());
}

// The search drops the graphs of blocks that it prices, but not those of its answer.
TEST(Search, TheBestStepCanBeExpanded) {
  const auto found =
      search(scenario("llama-3-8b", 4, "h100-sxm:8", 4096, 16), {}, {}, Catalog::built_in());
  ASSERT_TRUE(found && found->winner);
  const auto expanded = simulated(found->winner->costs, Folding::expanded);
  ASSERT_TRUE(expanded) << expanded.error().text();
  EXPECT_EQ(expanded->time, found->winner->folded.time);
  EXPECT_GT(expanded->step.graph.size(), found->winner->folded.step.graph.size());
}

// Stated fields stay when the other axes are tried.
TEST(Search, KeepsWhatIsStatedOnAllAxes) {
  SearchSpace space;
  space.recompute = {Recompute::selective};
  space.stated = {"recompute", "overlap.gradient_reduction"};
  const auto found = search(scenario("llama-3-8b", 4, "h100-sxm:8", 4096, 16), space, all_axes(),
                            Catalog::built_in());
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->plans.empty());
  EXPECT_EQ(found->plans.front().plan.recompute, Recompute::selective);
  EXPECT_TRUE(found->plans.front().plan.overlap.gradient_reduction);
  EXPECT_EQ(found->not_searched, (std::vector<std::string>{"attention", "layers"}));
}

// The model's own batch where degrees divide it, else one that the replicas divide; either way
// every plan assumes the batch that it was priced with.
TEST(Search, SizesTheBatchThatNobodyStated) {
  const auto batch = [](const char* cluster, std::int64_t tokens) {
    Scenario s = scenario("llama-3-8b", 4, cluster, 4096, 0);
    s.model.published.global_batch_tokens = tokens;
    SearchSpace space;
    space.cp = {1};
    space.recompute = {Recompute::none};
    SearchOptions options;
    options.top = 3;
    const auto found = search(s, space, options, Catalog::built_in());
    EXPECT_TRUE(found) << cluster;
    for (const Estimate& e : found->plans) {
      const std::string said = "global batch " + std::to_string(e.training.global_batch) + " ";
      EXPECT_TRUE(std::ranges::any_of(e.assumed, [&](const std::string& line) {
        return line.starts_with(said);
      })) << said;
    }
    return found->plans.front().training.global_batch;
  };
  EXPECT_EQ(batch("h100-sxm:64", std::int64_t{32} * 4096), 32);  // not one a GPU
  EXPECT_EQ(batch("h100-sxm:1208", std::int64_t{1024} * 4096),
            1208);  // 8 x 151: no degrees divide 1,024
  EXPECT_EQ(batch("h100-sxm:16", 0), 16);
}

// With the step time as the objective, a judge finds what the search proves by its bounds.
TEST(JudgedSearch, ByStepTimeIsTheSearch) {
  const Scenario s = scenario("llama-3.1-8b", 8, "h100-sxm:16", 4096, 64);
  SearchSpace space;
  space.cp = {1};
  SearchOptions options;
  options.top = 3;
  const auto expected = search(s, space, options, Catalog::built_in());
  options.judge = [](const Estimate& e) { return std::optional(e.step_time.value()); };
  const auto found = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(expected && found);
  EXPECT_EQ(found->plans.front().step_time, expected->plans.front().step_time);
  EXPECT_EQ(found->judged->values.front(), expected->plans.front().step_time.value());
  EXPECT_EQ(found->judged->plans, found->considered - found->too_large);
  ASSERT_FALSE(found->runners_up.empty());
  for (const RunnerUp& r : found->runners_up) {
    EXPECT_GE(r.best_other.step_time, found->plans.front().step_time) << r.axis;
  }
}

TEST(JudgedSearch, MinimisesWhatItIsAskedAndKeepsToTheConstraint) {
  const Scenario s = scenario("llama-3.1-8b", 8, "h100-sxm:16", 4096, 64);
  SearchSpace space;
  space.cp = {1};
  std::mutex mutex;
  std::optional<ByteCount> least;
  SearchOptions options;
  options.judge = [&](const Estimate& e) -> Result<std::optional<double>> {
    if (e.plan.tp == 1) return std::optional<double>();
    if (e.plan.pp == 2) return bad_input("no twos", "objective");
    const std::lock_guard lock(mutex);
    least = least ? std::min(*least, e.peak_memory) : e.peak_memory;
    return std::optional(static_cast<double>(e.peak_memory));
  };
  const auto found = search(s, space, options, Catalog::built_in());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->plans.front().peak_memory, *least);
  EXPECT_GT(found->judged->not_allowed, 0);
  EXPECT_GT(found->judged->failed, 0);
  EXPECT_EQ(found->judged->failure, "objective: no twos");
  for (const Estimate& e : found->plans) {
    EXPECT_NE(e.plan.tp, 1);
    EXPECT_NE(e.plan.pp, 2);
  }
  EXPECT_TRUE(std::ranges::is_sorted(found->judged->values));
  options.all_axes = true;
  EXPECT_EQ(search(s, space, options, Catalog::built_in()).error().text(),
            "all_axes: plans that a function judges are those of the space (leave it out)");
}

}  // namespace
}  // namespace orrery
