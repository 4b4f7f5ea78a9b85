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
  std::string_view css_class;  // "memory-optimizer_states", also its variable
  std::string_view label;      // "optimizer states"
  ByteCount bytes = 0;
  Swatch swatch;
};
inline constexpr std::size_t kMemoryParts = 7;
// Adds up to report.peak.
std::array<MemoryPart, kMemoryParts> parts_of(const MemoryReport& report);

// The part of a run's wall-clock time that is no loss: its variable and class.
inline constexpr std::string_view kTraining = "training";

// Every colour of a page by the name of its variable: the lines of a breakdown, the parts of memory
// and the parts of a run.
std::vector<std::pair<std::string_view, Swatch>> page_colours();

}  // namespace orrery
