// The cost of all blocks of a model under one setting, and their running sums over the layers.
//
// Any range of layers is then priced by one subtraction, which is what makes a lower bound cost
// less than a microsecond. Kept by CostCache under a key of everything the costs depend on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lower/block_cost.h"
#include "lower/expert_balance.h"
#include "model/division.h"
#include "schedule/in_flight.h"
#include "schedule/schedule.h"

namespace orrery {

// Sums over some blocks, on one rank, for one microbatch.
struct PassTotals {
  Picoseconds forward;
  Picoseconds backward;
  Picoseconds input_gradient;  // of a split backward; zero unless asked for
  Picoseconds weight_gradient;
  Picoseconds exposed_ep;  // all-to-alls in forward and backward that nothing hides
  RankParameters trained;
  RankParameters frozen;
  RankTables tables;
  Bytes saved;
  Bytes saved_for_weight_gradient;
  Flops recomputed;

  PassTotals& operator+=(const BlockCost& b);
  friend PassTotals operator-(PassTotals a, const PassTotals& b);
  friend PassTotals operator+(PassTotals a, const PassTotals& b);
};

struct ModelCosts {
  std::vector<BlockCost> blocks;  // as Model::blocks
  BlockCost embedding;
  BlockCost head;
  std::vector<PassTotals> before;  // before[l]: sum over layers 0..l-1
};

// Whether the graphs of blocks are kept. Only an expanded step needs them, and they are most of the
// memory.
enum class BlockGraphs { kept, dropped };

// The cost context and block costs of one scenario; thread-safe. Where sites of the cluster differ,
// it is that of the first, with one for each of the others.
class CostCache {
 public:
  // Keeps references: model and training must outlive the cache.
  CostCache(const Model& model, const Training& training, CostContext context,
            BlockGraphs graphs = BlockGraphs::kept);

  // 1 where all of the cluster is alike.
  [[nodiscard]] std::size_t sites() const { return 1 + further_sites_.size(); }
  CostCache& at_site(std::size_t site) { return site == 0 ? *this : *further_sites_[site - 1]; }

  // Costs under this plan with that recomputation; the reference stays valid. Only a schedule that
  // splits the backward should ask for the halves: they cost as much again to price.
  const ModelCosts& costs(const Plan& plan, Recompute recompute,
                          Backward backward = Backward::fused);
  const RankLayout& layout(const Plan& plan);
  // What every device holds at its fullest moment, at the schedule's default times; a pending
  // weight gradient weighs `pending_weight` of a held activation. The reference stays valid.
  const std::vector<InFlight>& in_flight(const Schedule& schedule, const PipelineShape& shape,
                                         int group, double pending_weight);
  // The pipeline of a schedule. An order that is sought for the times of its passes takes up to a
  // second, and many plans ask for the same one: it is kept until 64 others have been sought.
  Result<Pipeline> pipeline(const Schedule& schedule, const ScheduleRequest& request);
  // How the plan divides the model, with the rates of the context and the price of its step: where
  // tables lie follows from it (lower/table_division.cc). Refers to the cache.
  Division division(const Plan& plan);
  // The model as it lies on the plan's ranks (ModelFamily::on_ranks). The reference stays valid.
  const Model& model_on_ranks(const Plan& plan);
  [[nodiscard]] const CostContext& context() const { return context_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const Training& training() const { return training_; }
  // What rows are made of; null if every row is one document.
  [[nodiscard]] const DocumentRows* documents(const Plan& plan) const;
  // How the plan's ranks wait for each other's rows.
  [[nodiscard]] RowDivision rows(const Plan& plan) const;

 private:
  // What blocks are priced under; refers to the plan.
  BlockSetting setting(const Plan& plan);
  BlockSetting setting(const Plan& plan, const RowDivision& rows);  // `rows`: those of the plan

  using Key = std::vector<std::int64_t>;
  const Model& model_;
  const Training& training_;
  CostContext context_;
  BlockGraphs graphs_;
  bool is_on_ranks_ = false;  // model_ is what lies on a rank: model_on_ranks() leaves it as it is
  std::unique_ptr<DocumentRows> documents_;
  mutable std::map<std::int64_t, std::unique_ptr<DocumentRows>> documents_by_length_;  // by cp
  std::vector<std::unique_ptr<CostCache>> further_sites_;
  mutable std::mutex mutex_;
  std::map<Key, std::unique_ptr<ModelCosts>> costs_;
  std::map<std::string, std::unique_ptr<Model>> on_ranks_;  // by plan; null where it is the model
  std::map<Key, std::unique_ptr<RankLayout>> layouts_;
  std::map<Key, std::unique_ptr<std::vector<InFlight>>> in_flight_;
  // A pipeline that is being made, or was: whoever asks meanwhile waits for it.
  struct SoughtPipeline {
    std::once_flag once;
    std::optional<Result<Pipeline>> made;
  };
  std::map<std::pair<const Schedule*, ScheduleRequest>, std::shared_ptr<SoughtPipeline>> pipelines_;
};

// How unevenly the plan's ranks work on the routed tokens of a part of a microbatch.
ExpertBalance balance_of_experts(const Model& model, const Training& training, const Plan& plan,
                                 double part = 1);

// The part of the routed tokens that no expert drops, with the halves that the plan makes.
double kept_tokens(const Model& model, const Training& training, const Plan& plan);

// What the plan binds the symbols of the model's operators to.
Binding binding(const Model& model, const Training& training, const Plan& plan);

}  // namespace orrery
