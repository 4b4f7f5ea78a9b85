// What the communications of a step do to a network: how long one takes for each byte with the links to
// itself, and for which share of that time it keeps each link busy,
//
//   u(l) = bytes on l / capacity of l / time
//
// found by simulating its program once (network/program_run.h), on all groups that run it at once.
// Links that all patterns use alike are then one resource.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "network/max_min.h"
#include "network/program.h"
#include "outcome/result.h"

namespace orrery {

struct CommunicationPattern {
  double seconds_per_byte = 0;
  std::vector<ResourceUse> links;  // the share of the time of each; after fold(), of resources
  std::string busiest;             // level whose links are busiest
};

// What tells patterns apart.
struct PatternKey {
  std::size_t job = 0;
  std::uint32_t device = 0;
  std::size_t site = 0;
  std::size_t group = 0;  // or message
  int collective = 0;     // or step from stage to stage
  int algorithm = 0;
  int protocol = 0;
  auto operator<=>(const PatternKey&) const = default;
};

// What other groups do to links of their own while each sends as many bytes as one of the pattern: a
// link that has not carried them by then is busy all the time.
void add_beside(CommunicationPattern& pattern, const CommunicationPattern& beside);

class CommunicationPatterns {
 public:
  explicit CommunicationPatterns(const Cluster& fabric) : fabric_(fabric) {}

  // The number of the pattern, which is made once for each key.
  using Make = std::function<Result<CommunicationPattern>()>;
  Result<std::uint32_t> find(const PatternKey& key, const Make& make);

  // Of a program on some groups, to which the levels of a site are as `seen` has them. Errors: as
  // network_of and run.
  Result<CommunicationPattern> of_program(
      const Program& program, const ChangedLevels& seen,
      const std::vector<std::vector<std::uint32_t>>& placements);

  // Replaces links by resources; gives their number.
  std::size_t fold();

  // Of a resource, after fold(): the first of its links.
  [[nodiscard]] const std::string& level_of(std::size_t resource) const {
    return level_of_link_[first_link_[resource]];
  }

  [[nodiscard]] const CommunicationPattern& operator[](std::uint32_t number) const {
    return patterns_[number];
  }

 private:
  const Cluster& fabric_;
  std::vector<std::string> level_of_link_;
  std::vector<std::uint32_t> first_link_;  // of every resource
  std::vector<CommunicationPattern> patterns_;
  std::map<PatternKey, std::uint32_t> numbers_;
};

}  // namespace orrery
