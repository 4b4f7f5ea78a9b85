// Our own graph as a file: what a simulation needs, and nothing about where it came from.
//
//   {"orrery_graph": 2,
//    "categories": [{"name": "attention_core", "class": "computing"}, ...],
//    "groups": [{"label": "tensor", "size": 8, "members": [8,8]}, ...],
//    "streams": [{"rank": 0, "role": "compute", "label": "stream 7"}, ...],
//    "operations": [{"kind": "kernel", "category": 0, "name": "attention.qkv", "parts": [...]},
//                   ...],
//    "steps": [{"rank": 0, "name": "ProfilerStep#4", "after": null, "until": 812,
//               "recorded_ps": 597000000}, ...],
//    "nodes": [{"operation": 0, "stream": 0, "duration_ps": 1200000, "after": [3], "with": [2]},
//              ...]}
//
// Operations are those of graph/operation.h, with parts as graph_file.cc says. Nodes stand in the
// order of the graph (graph/graph.h): each behind those of `after`, which must end before it, and
// behind the node before it on its stream. `with` are the further streams of a rendezvous; both
// lists are left out where they are empty. Durations are whole picoseconds. A step lasts from the
// end of node `after` (null: from zero) to the end of node `until`.
//
// Written one node a line, so that text tools can read it. Reading and writing lose nothing but a
// graph's instance numbers and breakdowns of folded blocks, which point into tables of whoever
// built it. Memory: that of the text and the graph. Errors, each with the number of the entry:
// unknown kinds, indices that do not exist yet, durations that are no whole picoseconds up to 2^53.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "outcome/result.h"

namespace orrery {

struct GraphFileStep {
  std::int64_t rank = 0;
  std::string name;
  std::optional<std::uint32_t> after;  // a node
  std::uint32_t until = 0;             // a node
  double recorded_ps = 0;              // whole; 0: not recorded
  bool operator==(const GraphFileStep&) const = default;
};

struct GraphFile {
  Graph graph;
  std::vector<GraphFileStep> steps;
};

std::string graph_file_text(const GraphFile& file);
// `name` stands in errors.
Result<GraphFile> parse_graph_file(std::string_view text, const std::string& name);
// Of a file, which may be gzip.
Result<GraphFile> read_graph_file(const std::string& file);

}  // namespace orrery
