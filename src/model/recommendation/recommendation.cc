#include "model/recommendation/recommendation.h"

#include <fmt/core.h>

#include <utility>

#include "model/model_name.h"
#include "model/model_problems.h"
#include "model/recommendation/blocks.h"
#include "model/recommendation/table_placement.h"

namespace orrery {
namespace {

Result<Model> read_recommender(const Document& document) {
  ORRERY_TRY(Recommender r, read<Recommender>(document));
  if (r.name.empty() || r.name == "unnamed") r.name = model_name_of_file(document.name);
  return at(document.name, build_model(r));
}

Value write_recommender(const Model& model) {
  return Codec<Recommender>::write(*recommender_of(model));
}

std::vector<std::string> division_problems(const Model& model, const Division& d) {
  std::vector<std::string> out = table_division_problems(*recommender_of(model), d);
  if (d.tp > 0 && model.tensor_parts % d.tp != 0) {
    out.push_back(
        fmt::format("tp {} does not divide the widths of the MLPs, whose greatest common "
                    "divisor is {}",
                    d.tp, model.tensor_parts));
  }
  return out;
}

std::optional<Model> with_placed_tables(const Model& model, const Division& d) {
  const Recommender& r = *recommender_of(model);
  const TablePlacement placement = place_tables(r, d);
  Model out = model;
  build_recommendation_blocks(out, r, &placement);
  for (std::string& line : placement_in_words(r, d, placement)) {
    out.assumed.push_back(std::move(line));
  }
  return out;
}

std::string nothing_copied(const Model&, std::int64_t) { return ""; }

}  // namespace

Result<Model> build_model(const Recommender& r) {
  ORRERY_RETURN_IF_ERROR(without_problems(r.name, recommender_problems(r)));
  Model model;
  model.family = &recommendation_models();
  model.name = r.name;
  model.tables = r.num_tables;
  model.towers = r.tower_modules ? r.tower_modules->towers : 0;
  model.published = {.sequence_length = 1, .global_batch_tokens = r.global_batch};
  build_recommendation_blocks(model, r, nullptr);
  if (r.interaction == Interaction::none) {
    model.assumed.emplace_back("what joins the MLPs and the tables is unknown: vectors are read");
  }
  if (r.transformer) {
    model.assumed.emplace_back("how vectors become tokens of the interaction is not counted");
  }
  model.fields = r;
  return model;
}

const Recommender* recommender_of(const Model& model) {
  return std::any_cast<Recommender>(&model.fields);
}

const ModelFamily& recommendation_models() {
  static constexpr ModelFamily kRecommendationModels = {"num_tables",       read_recommender,
                                                        write_recommender,  division_problems,
                                                        with_placed_tables, nothing_copied};
  return kRecommendationModels;
}

}  // namespace orrery
