// The parts of an operation (graph/operation.h) in a graph's file, one JSON object each:
//
//   {"product": [m, n, k, groups], "format": "bf16", "flops": F, "bytes": B, "launches": 1,
//    "pieces": 1}
//   {"attention": [batch, queries, keys, heads, kv_heads, query_key_dim, value_dim, window], ...}
//   {"memory": B, "launches": 3}
//   {"collective": "all_gather", "group": 1, "bytes": B, "pieces": 1, "times": 1}, and of exchanges
//   of tokens "tokens", "token_bytes", "top_k", "experts", "away"
//   {"message": B, "level": 1}   {"host_copy": B}   {"seconds": S}
//
// with "rounding": "with_previous" where it applies. Numbers that are 1 or 0 by default are left
// out.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>

#include "graph/operation.h"

namespace orrery {

std::string operation_part_text(const OperationPart& part);
// Nothing where it is no part. Groups are places below `groups`.
std::optional<OperationPart> read_operation_part(simdjson::dom::element e, std::size_t groups);

}  // namespace orrery
