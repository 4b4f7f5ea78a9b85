// The process groups of a job as ASTRA-sim wants them: each under a number of its own, 1 or more,
// which nodes name as pg_name, and all of them in a communicator file beside the traces
// (--comm-group-configuration), a JSON object of number to list of ranks.
//
// Numbers and not names, because it converts pg_name to an int. Unique over the job, because each
// rank reads the groups of all ranks, and a group's messages carry its number. From 1, and one for
// the group of all ranks too, because collectives without a group, or in "0", are matched by how
// many collectives of any group their ranks have seen, which differs between ranks.
//
// Source: astra-sim (518bd51), Workload.cc, CommunicatorGroup.cc, Sys.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/chakra/chakra_run.h"
#include "trace/chakra/process_groups.h"

namespace orrery {

// A number that ASTRA-sim takes for a group; nothing if the name is none.
std::optional<std::int64_t> communicator_number(std::string_view name);

// The ranks of each number; none: all ranks of the job.
using Communicators = std::map<std::int64_t, std::vector<std::int64_t>>;

// The number of ranks of the job, which the metadata of our traces have as `world_size`; 0 if they
// do not say it.
std::int64_t world_size(const ChakraTrace& trace);
// In place of what the metadata say of it.
void set_world_size(ChakraTrace& trace, std::int64_t ranks);

struct NumberedGroups {
  Communicators communicators;
  std::int64_t ranks = 0;              // of the job
  bool ranks_are_known = false;        // else the job has at least so many
  std::vector<std::string> undefined;  // names that no definition explains: taken for all ranks
  std::vector<std::vector<GroupsProblem>> problems;  // of the definitions, by rank of the run
};

// Numbers the groups that the collectives of a run are in, in the order of ranks and nodes, and
// names them so in nodes and metadata; if all have such numbers already, those are kept. Groups are
// one if they have the same name and ranks, all of them with or without a list; one that its rank
// does not define is all ranks. METADATA nodes, at which ASTRA-sim aborts, become computation of
// the host. `ranks`: of the job, 0 if only the traces can say it.
NumberedGroups number_groups(ChakraRun& run, std::int64_t ranks = 0);

// Adds the groups of a trace whose groups have numbers.
void add_communicators(const ChakraTrace& trace, Communicators& communicators);

// "folder/prefix.groups.json".
std::string communicator_file(const std::string& folder, std::string_view prefix);
// The text of the file for a job of so many ranks; none without groups. Errors: more ranks in lists
// than fit.
Result<std::string> communicator_text(const Communicators& communicators, std::int64_t ranks);
// Without a text, removes what an earlier run left there. Errors: as write_file.
Result<void> write_communicators(const std::string& file, std::string_view text);

}  // namespace orrery
