#include "trace/pytorch_et/host_pairs.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using ::testing::ElementsAre;

RecordedTrace rank(std::int64_t number, std::int64_t process) {
  RecordedTrace out;
  out.rank = number;
  out.file = "kineto_rank" + std::to_string(number) + ".json";
  out.lanes.push_back(Lane{.process = process, .process_name = "", .thread_name = ""});
  return out;
}

HostTrace host(std::int64_t process, const std::string& file) {
  HostTrace out;
  out.process = process;
  out.file = file;
  return out;
}

RecordedRun run_of(std::int64_t first_process, std::int64_t second_process) {
  RecordedRun run;
  run.ranks.push_back(rank(0, first_process));
  run.ranks.push_back(rank(1, second_process));
  return run;
}

TEST(HostPairs, AreFoundByProcessAndThenByName) {
  EXPECT_THAT(*host_pairs(run_of(70, 71), {host(71, "a.json"), host(70, "b.json")}),
              ElementsAre(1, 0));
  EXPECT_THAT(*host_pairs(run_of(7, 7), {host(7, "et_rank1.json")}), ElementsAre(kNoHost, 0));
  RecordedRun one;
  one.ranks.push_back(rank(3, 8));
  EXPECT_THAT(*host_pairs(one, {host(9, "et.json")}), ElementsAre(0));
}

TEST(HostPairs, RefuseWhatBelongsNowhereOrTwice) {
  EXPECT_EQ(host_pairs(run_of(7, 7), {host(9, "et.json")}).error().text(),
            "et.json: its process 9 is in none of the profiler's traces, or in several (name it "
            "after its rank: ..._rank3.json)");
  EXPECT_EQ(host_pairs(run_of(70, 71), {host(70, "a.json"), host(70, "b.json")}).error().text(),
            "b.json: belongs to kineto_rank0.json, as does a.json (one execution trace a rank)");
}

}  // namespace
}  // namespace orrery
