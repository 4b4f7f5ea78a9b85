#include "trace/trace_inputs.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "document/value.h"
#include "trace/published_traces.h"

namespace orrery {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class TraceSourcesOf : public ::testing::Test {
 protected:
  TraceSourcesOf()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TraceSourcesOf() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string file = (folder_ / name).string();
    EXPECT_TRUE(write_file(file, text));
    return file;
  }

  std::filesystem::path folder_;
};

TEST_F(TraceSourcesOf, AFolderStandsForItsRecording) {
  const auto found = trace_sources({kTraces + "megatron-lm-fork/tp2"});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->format, &kKineto);
  ASSERT_EQ(found->files.size(), 2u);
  EXPECT_THAT(found->files[1], EndsWith("kineto_rank1.json.gz"));
  EXPECT_EQ(found->hosts.size(), 2u);
}

TEST_F(TraceSourcesOf, FilesAreKnownByContentButForWhatOnlyANameTells) {
  const std::string graph = write("g.txt", R"({"orrery_graph": 1, "streams": []})");
  EXPECT_EQ(trace_sources({graph})->format, &kGraph);
  const std::string broken = write("t.0.et", "\x7f no record");
  EXPECT_EQ(trace_sources({broken})->format, &kChakra);
  const std::string unknown = write("unknown", "nothing");
  EXPECT_EQ(trace_sources({unknown})->format, &kKineto);  // its reader says what it is
}

TEST_F(TraceSourcesOf, CommunicatorFilesArePassedOverBesideTraces) {
  const std::string et = kTraces + "chakra/chakra.0.et";
  const std::string groups = write("step.groups.json", R"({"1": [0, 1]})");
  const auto found = trace_sources({et, groups});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->files, std::vector{et});
  EXPECT_THAT(trace_sources({groups}).error().text(),
              HasSubstr("is a communicator file of ASTRA-sim (it goes to the simulator"));
}

TEST_F(TraceSourcesOf, FilesOfDifferentKindsAreRefused) {
  const std::string et = kTraces + "chakra/chakra.0.et";
  const std::string kineto = kTraces + "ao/ref_ep_moe_fwd.json.gz";
  const std::string host = kTraces + "megatron-lm-fork/tp2/pytorch_et_rank0.json.gz";
  const std::string graph = write("g.json", R"({"orrery_graph": 1, "streams": []})");
  const auto error = [](const std::vector<std::string>& files) {
    const auto found = trace_sources(files);
    return found ? std::string("found") : found.error().text();
  };
  EXPECT_EQ(error({kineto, et}), et + ": is a Chakra execution trace, but " + kineto +
                                     " is a trace of the PyTorch profiler (give the files of one "
                                     "run, which are of one kind)");
  EXPECT_THAT(error({graph, graph}), HasSubstr("one file holds all ranks"));
  EXPECT_THAT(error({et, et}), HasSubstr("is given twice"));
  EXPECT_THAT(error({host}), HasSubstr("execution traces alone hold no times"));
  EXPECT_THAT(error({host, et}), HasSubstr("execution traces go with the profiler's traces"));
  EXPECT_EQ(error({host, kineto}), "found");
  EXPECT_THAT(error({kTraces + "megatron-lm-fork/tp2/final.0.jsonized.json.gz"}),
              HasSubstr("give the .et file that it was made of"));
  EXPECT_THAT(error({folder_.string() + "/absent"}), "found");  // its reader says that it is absent
  write("notes.txt", "nothing");
  std::filesystem::remove(graph);
  EXPECT_THAT(error({folder_.string()}), HasSubstr("no traces in this folder"));
}

}  // namespace
}  // namespace orrery
