// How the lines of a breakdown and the parts of memory are called and coloured, in the terminal and
// in HTML: cold colours work, warm colours wait for the network, grey waits for nothing in
// particular.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cost/memory/memory.h"
#include "forecast/badput.h"
#include "lower/step_category.h"
#include "report/drawing/text_style.h"

namespace orrery {

struct Swatch {
  std::uint8_t terminal = 0;  // index into the 256-colour palette
  std::string_view light;     // "#rrggbb" on a light page
  std::string_view dark;
};

std::string_view label(Category c);  // "attention projections", "tensor parallel"
Swatch swatch(Category c);

enum class BreakdownGroup { computing, recompute, communication, bubble, optimizer, host };
inline constexpr std::array kBreakdownGroups = {
    BreakdownGroup::computing, BreakdownGroup::recompute, BreakdownGroup::communication,
    BreakdownGroup::bubble,    BreakdownGroup::optimizer, BreakdownGroup::host};
BreakdownGroup group_of(Category c);
std::string_view label(BreakdownGroup g);  // "computing", "exposed communication"

// One line of a breakdown that took time.
struct BreakdownLine {
  Category category = Category::bubble;
  Picoseconds time;
  int tenths = 0;  // of a percent of the step; the lines of a breakdown add up to 1000
};
struct BreakdownSection {
  BreakdownGroup group = BreakdownGroup::computing;
  Picoseconds time;
  int tenths = 0;
  std::vector<BreakdownLine> lines;  // longest first
};
// The groups that took time, in the order of kBreakdownGroups.
std::vector<BreakdownSection> sections(const Breakdown& breakdown);

// One part of the memory of a rank.
struct MemoryPart {
  std::string_view key;    // "optimizer_states"
  std::string_view label;  // "optimizer states"
  ByteCount bytes = 0;
  Swatch swatch;
};
inline constexpr std::size_t kMemoryParts = 7;
// Adds up to report.peak.
std::array<MemoryPart, kMemoryParts> parts_of(const MemoryReport& report);

// How the parts of a run's wall-clock time are coloured on a page: training is blue, what a failure
// costs is warm, what comes with running at all is neither.
inline constexpr std::string_view kTraining = "training";  // its variable and class
Swatch swatch_of_training();
Swatch swatch(Badput badput);

// "--training:#2f6fde;", and ".c-training{fill:var(--training)}".
std::string run_variables(std::string_view Swatch::* colour);
std::string run_rules();

}  // namespace orrery
