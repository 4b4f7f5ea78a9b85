#include "plan/expert_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "document/comma_separated.h"
#include "model/model.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr double kMostTokens = 1e15;
constexpr double kSteepest = 16;  // exponent of a power law

}  // namespace

Fields<ExpertLoad> fields_of(const ExpertLoad*) {
  return Fields<ExpertLoad>("expert load")
      .optional<&ExpertLoad::tokens>("tokens of each expert; only their ratios matter")
      .optional<&ExpertLoad::file>("CSV with the columns expert and tokens")
      .optional<&ExpertLoad::power_law>("exponent by which the popularity of experts falls")
      .optional<&ExpertLoad::max_violation>(
          "excess of the most popular expert over the mean, as a share of the mean")
      .optional<&ExpertLoad::capacity_factor>(
          "most tokens that an expert takes, as a multiple of the mean; 0: no limit")
      .optional<&ExpertLoad::padded>("experts compute their whole capacity");
}

Result<std::vector<double>> read_expert_tokens(std::string_view text, std::string name) {
  ORRERY_TRY(const CommaSeparated table, parse_comma_separated(text, std::move(name)));
  ORRERY_RETURN_IF_ERROR(table.complete());
  const auto column = [&](std::string_view key) {
    return static_cast<std::size_t>(std::ranges::find(table.columns, key) - table.columns.begin());
  };
  const std::size_t expert = column("expert");
  const std::size_t tokens = column("tokens");
  if (std::max(expert, tokens) == table.columns.size()) {
    return bad_input("needs the columns 'expert' and 'tokens'", table.name,
                     "a header such as \"expert,tokens\"");
  }
  std::map<std::int64_t, double> loads;
  for (const CommaSeparated::Record& row : table.records) {
    const std::string where = fmt::format("{}: line {}", table.name, row.line);
    const auto number = parsed_number<std::int64_t>(row.fields[expert]);
    if (!number || *number < 0 || *number >= kMostExperts) {
      return bad_input(fmt::format("'{}' is not the number of an expert", row.fields[expert]),
                       where, fmt::format("whole numbers from 0 to {}", kMostExperts - 1));
    }
    const auto load = parsed_number<double>(row.fields[tokens]);
    if (!load || !(*load >= 0) || *load > kMostTokens) {
      return bad_input(fmt::format("'{}' is not a number of tokens", row.fields[tokens]), where,
                       "a number from 0 to 1e15");
    }
    if (!loads.emplace(*number, *load).second) {
      return bad_input(fmt::format("expert {} has a row already", *number), where,
                       "one row for each expert, with the sum of its tokens");
    }
  }
  std::vector<double> out;
  for (const auto& [number, load] : loads) {
    if (number != std::ssize(out)) {
      return bad_input(fmt::format("expert {} has no row", out.size()), table.name,
                       "a row for every expert, of 0 tokens if it gets none");
    }
    out.push_back(load);
  }
  if (out.empty()) return bad_input("has no rows", table.name);
  return out;
}

std::vector<std::string> expert_load_problems(const ExpertLoad& load, const Model& model) {
  if (load == ExpertLoad{}) return {};
  if (!load.file.empty()) return {"expert_load: file " + load.file + " was not read"};
  if (model.experts == 0) return {"expert_load needs experts; " + model.name + " has none"};
  std::vector<std::string> out;
  const auto outside = [&](std::string_view field, double value, double least, double most) {
    if (value >= least && value <= most) return;
    out.push_back(fmt::format("expert_load: {} {} is outside {} to {}", field, value, least, most));
  };
  const auto experts = static_cast<double>(model.experts);
  outside("power_law", load.power_law, 0, kSteepest);
  // A token chooses an expert once, so that none gets more than all tokens.
  const auto chosen = static_cast<double>(std::max<std::int64_t>(1, model.experts_of_a_token));
  outside("max_violation", load.max_violation, 0, experts / chosen - 1);
  const auto too_popular = [&](std::size_t expert, double share, std::string_view write) {
    if (share * chosen <= 1 + 1e-9) return;
    out.push_back(
        fmt::format("expert_load: expert {} gets {:.3g} % of the tokens; if each token chooses {} "
                    "experts, no expert gets more than {:.3g} %; {}",
                    expert, 100 * share, chosen, 100 / chosen, write));
  };
  if (load.power_law > 0 && load.power_law <= kSteepest) {
    double all = 0;
    for (std::int64_t i = 1; i <= model.experts; ++i) {
      all += std::pow(static_cast<double>(i), -load.power_law);
    }
    too_popular(0, 1 / all, "write a smaller power_law");
  }
  if (load.capacity_factor != 0) outside("capacity_factor", load.capacity_factor, 0.01, experts);
  const int stated = (load.tokens.empty() ? 0 : 1) + (load.power_law > 0 ? 1 : 0) +
                     (load.max_violation > 0 ? 1 : 0);
  if (stated > 1) {
    out.emplace_back("expert_load: tokens, power_law and max_violation exclude each other");
  }
  if (load.padded && load.capacity_factor == 0) {
    out.emplace_back("expert_load: padded needs the capacity that is filled up: capacity_factor");
  }
  if (load.tokens.empty()) return out;
  if (std::ssize(load.tokens) != model.experts) {
    out.push_back(fmt::format("expert_load: tokens of {} experts; {} has {}", load.tokens.size(),
                              model.name, model.experts));
  }
  double sum = 0;
  for (std::size_t i = 0; i < load.tokens.size(); ++i) {
    if (!(load.tokens[i] >= 0) || load.tokens[i] > kMostTokens) {
      out.push_back(
          fmt::format("expert_load: tokens[{}]: {} is outside 0 to 1e15", i, load.tokens[i]));
      return out;
    }
    sum += load.tokens[i];
  }
  if (!(sum > 0)) {
    out.emplace_back("expert_load: no expert gets a token");
    return out;
  }
  const auto most = std::ranges::max_element(load.tokens);
  too_popular(static_cast<std::size_t>(most - load.tokens.begin()), *most / sum,
              "write the tokens that each expert is sent");
  return out;
}

}  // namespace orrery
