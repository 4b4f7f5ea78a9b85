#include "report/drawing/category_style.h"

#include <algorithm>

#include "report/drawing/figures.h"

namespace orrery {
namespace {

struct Style {
  std::string_view label;
  Swatch swatch;
};

const Style& style(Category c) {
  // clang-format off
  static constexpr std::array<Style, kCategories> kStyles = {{
      {"attention projections", {33,  "#2f6fde", "#5b93f5"}},
      {"attention core",        {38,  "#1499b8", "#38bdd8"}},
      {"feed-forward",          {63,  "#5a55d6", "#8d89f7"}},
      {"experts",               {36,  "#1aa083", "#3cc9aa"}},
      {"router",                {79,  "#7cc4a8", "#4f8f78"}},
      {"normalization",         {110, "#8fb4f0", "#6d8fcb"}},
      {"elementwise",           {146, "#aebfe6", "#56709f"}},
      {"embedding",             {116, "#79cfdc", "#3f8fa0"}},
      {"logits",                {141, "#9f8ff0", "#b8a9ff"}},
      {"loss",                  {183, "#c5baf5", "#7f71bd"}},
      {"convolution",           {31,  "#0b7fa8", "#2fb4e0"}},
      {"contention",            {133, "#b06fb8", "#cf8ad8"}},
      {"recomputation",         {169, "#c04fa0", "#e070c0"}},
      {"optimizer step",        {71,  "#3f9142", "#62c065"}},
      {"tensor parallel",       {208, "#e8590c", "#ff7b35"}},
      {"context parallel",      {214, "#f0a202", "#ffc043"}},
      {"expert parallel",       {204, "#d6336c", "#f5649a"}},
      {"pipeline parallel",     {160, "#c92a2a", "#f45b5b"}},
      {"data parallel",         {130, "#a8541a", "#d98a4f"}},
      {"pipeline bubble",       {245, "#a3acb5", "#5f6b78"}},
      {"host",                  {101, "#7a6a3a", "#b8a66a"}},
  }};
  // clang-format on
  return kStyles[static_cast<std::size_t>(c)];
}

}  // namespace

std::string_view label(Category c) { return style(c).label; }
Swatch swatch(Category c) { return style(c).swatch; }

BreakdownGroup group_of(Category c) {
  if (is_compute(c)) return BreakdownGroup::computing;
  if (is_exposed_communication(c)) return BreakdownGroup::communication;
  switch (c) {
    case Category::recompute:
      return BreakdownGroup::recompute;
    case Category::optimizer:
      return BreakdownGroup::optimizer;
    case Category::host:
      return BreakdownGroup::host;
    default:
      return BreakdownGroup::bubble;
  }
}

std::string_view label(BreakdownGroup g) {
  static constexpr std::array<std::string_view, kBreakdownGroups.size()> kLabels = {
      "computing",       "recomputation",  "exposed communication",
      "pipeline bubble", "optimizer step", "host"};
  return kLabels[static_cast<std::size_t>(g)];
}

std::vector<BreakdownSection> sections(const Breakdown& breakdown) {
  const std::vector<int> tenths = tenths_of_percent(breakdown.time);
  std::vector<BreakdownSection> out;
  for (const BreakdownGroup group : kBreakdownGroups) {
    BreakdownSection section{.group = group, .time = {}, .tenths = 0, .lines = {}};
    for (std::size_t i = 0; i < kCategories; ++i) {
      const auto category = static_cast<Category>(i);
      if (group_of(category) != group || breakdown.time[i].count() == 0) continue;
      section.lines.push_back({category, breakdown.time[i], tenths[i]});
      section.time += breakdown.time[i];
      section.tenths += tenths[i];
    }
    std::ranges::sort(section.lines, [](const BreakdownLine& a, const BreakdownLine& b) {
      return a.time != b.time ? a.time > b.time : a.category < b.category;
    });
    if (!section.lines.empty()) out.push_back(std::move(section));
  }
  return out;
}

std::array<MemoryPart, kMemoryParts> parts_of(const MemoryReport& r) {
  return {{
      {"memory-parameters", "parameters", r.parameters, {33, "#2f6fde", "#5b93f5"}},
      {"memory-gradients", "gradients", r.gradients, {38, "#1499b8", "#38bdd8"}},
      {"memory-optimizer_states",
       "optimizer states",
       r.optimizer_states,
       {63, "#5a55d6", "#8d89f7"}},
      {"memory-activations", "activations in flight", r.activations, {208, "#e8890c", "#ff9d3c"}},
      {"memory-transient", "transient", r.transient, {204, "#d6336c", "#f5649a"}},
      {"memory-buffers", "buffers", r.buffers, {245, "#7f8b97", "#7d8996"}},
      {"memory-fragmentation", "fragmentation", r.fragmentation, {250, "#c3cad1", "#4a5560"}},
  }};
}

// How the parts of a run's wall-clock time are coloured: training is blue, what a failure costs is
// warm, what comes with running at all is neither.
Swatch swatch(Badput badput) {
  static constexpr std::array<Swatch, 6> kSwatches = {{{101, "#7a6a3a", "#b8a66a"},
                                                       {214, "#f0a202", "#ffc043"},
                                                       {36, "#1aa083", "#3cc9aa"},
                                                       {141, "#9f8ff0", "#b8a9ff"},
                                                       {208, "#f08c3a", "#ff9d4f"},
                                                       {160, "#c92a2a", "#f45b5b"}}};
  const auto i = static_cast<std::size_t>(badput);
  return i < kSwatches.size() ? kSwatches[i] : Swatch{245, "#a3acb5", "#5f6b78"};
}

std::vector<std::pair<std::string_view, Swatch>> page_colours() {
  std::vector<std::pair<std::string_view, Swatch>> out;
  for (std::size_t i = 0; i < kCategories; ++i) {
    out.emplace_back(to_text(static_cast<Category>(i)), swatch(static_cast<Category>(i)));
  }
  for (const MemoryPart& part : parts_of({})) out.emplace_back(part.css_class, part.swatch);
  out.emplace_back(kTraining, Swatch{33, "#2f6fde", "#5b93f5"});
  for (const EnumName<Badput>& b : names_of(Badput{})) out.emplace_back(b.name, swatch(b.value));
  return out;
}

}  // namespace orrery
