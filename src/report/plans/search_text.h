// The result of a search for a terminal: the best plans, why the first one won, what nearly did.
#pragma once

#include <span>
#include <string>

#include "forecast/run_costs.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/plan_text.h"
#include "search/across_sites.h"
#include "search/search.h"

namespace orrery {

// Counts, best plans, runner-ups of each axis, near misses, Pareto front. `elapsed` of zero is left
// out. If nothing fits: by how much the smallest plan is too large. `runs` are those of the plans in
// which nothing fails, or empty.
std::string search_text(const SearchResult& result, const Subject& subject, Seconds elapsed,
                        const TextStyle& style, std::span<const HealthyRun> runs = {});

// The parts of it.
std::string counts_text(const SearchResult& result, Seconds elapsed, const TextStyle& style);
std::string pareto_text(const SearchResult& result, const TextStyle& style);

// The best plans as a table; what does not differ between them is left out, and plans that differ in
// chunks alone and take the same time share a row, which counts them. Also for Markdown.
Table plans_table(const SearchResult& result, std::span<const HealthyRun> runs = {});
// For each axis, the best plan with another value; and plans that do not fit in memory.
Table runners_up_table(const SearchResult& result);
Table misses_table(const std::vector<NearMiss>& misses);
// "1,200 plans considered: 900 too large for memory, ...".
std::string counts_sentence(const SearchResult& result);
// Which axes were not searched, and what to write to have them tried; empty: none.
std::string not_searched_sentence(const SearchResult& result);

// "in all: zero 1 · schedule 1f1b": what the table leaves out, degrees of one apart, and what the
// counts in it mean.
std::string notes_of(const SearchResult& result);

// "+0.21 s exposed data parallel": the line of the breakdown that grew most from `winner` to
// `other`; empty if none grew.
std::string largest_growth(const Estimate& winner, const Estimate& other);

// Relative change of the step time, 0 if the winner takes none.
double slowdown(const Estimate& winner, const Estimate& other);

// What crosses between sites, as text and as sections of a page.
std::string across_sites_text(const AcrossSites& across, const TextStyle& style);
std::string across_sites_html(const AcrossSites& across);

}  // namespace orrery
