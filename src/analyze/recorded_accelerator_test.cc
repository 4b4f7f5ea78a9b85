#include "analyze/recorded_accelerator.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery {
namespace {

std::string named(const char* name, double gib = 0, std::int32_t processors = 0) {
  const auto found = recorded_accelerator(
      Catalog::built_in(),
      RecordedDevice{name, static_cast<std::int64_t>(gib * 1073741824.0), processors});
  return found ? found->name : "none";
}

TEST(RecordedAccelerator, IsOfTheDeviceThatTheDriverNamed) {
  EXPECT_EQ(named("NVIDIA H100 80GB HBM3", 79.2, 132), "h100-sxm");
  EXPECT_EQ(named("NVIDIA H100 PCIe", 79.2, 114), "h100-pcie");
  EXPECT_EQ(named("NVIDIA H200", 139.8), "h200-sxm");
  EXPECT_EQ(named("NVIDIA H20", 95.6), "h20");
  EXPECT_EQ(named("NVIDIA H800 PCIe", 79.2), "h800-pcie");
  EXPECT_EQ(named("NVIDIA H800", 79.2), "h800-sxm");
  EXPECT_EQ(named("NVIDIA B200", 178.4, 148), "b200-sxm");
  EXPECT_EQ(named("NVIDIA GB200", 184), "gb200");
  EXPECT_EQ(named("NVIDIA A100 80GB PCIe", 79.2), "a100-80gb-pcie");
  EXPECT_EQ(named("Tesla V100-PCIE-32GB", 31.7, 80), "v100-pcie");
  EXPECT_EQ(named("Tesla P100-SXM2-16GB", 15.9), "p100-16gb-sxm2");
  EXPECT_EQ(named("Tesla T4", 14.6), "t4");
  EXPECT_EQ(named("NVIDIA L40S", 44.4), "l40s");
  EXPECT_EQ(named("NVIDIA A40", 44.3), "a40");
  EXPECT_EQ(named("NVIDIA GeForce RTX 4090", 23.6), "rtx-4090");
  EXPECT_EQ(named("AMD Instinct MI300X VF", 191.5, 304), "mi300x");
}

TEST(RecordedAccelerator, TellsEntriesApartByTheirMemory) {
  EXPECT_EQ(named("NVIDIA A100-PG509-200", 39.4), "a100-40gb-sxm");
  EXPECT_EQ(named("NVIDIA A100-PG509-200", 79.2), "a100-80gb-sxm");
  EXPECT_EQ(named("NVIDIA A100-SXM4-80GB"), "a100-80gb-sxm");
  EXPECT_EQ(named("NVIDIA A100-SXM4-40GB"), "a100-40gb-sxm");
  EXPECT_EQ(named("NVIDIA GH200 480GB", 95.0), "gh200-96gb");
  EXPECT_EQ(named("Tesla V100-SXM2-32GB", 31.7), "v100-32gb-sxm2");
  EXPECT_EQ(named("Tesla V100-SXM2-16GB", 15.8), "v100-16gb-sxm2");
}

TEST(RecordedAccelerator, GuessesNothing) {
  EXPECT_EQ(named("NVIDIA GeForce RTX 2080 Ti", 11), "none");
  EXPECT_EQ(named("NVIDIA H100 NVL", 93.6), "none");
  EXPECT_EQ(named("NVIDIA A800 80GB PCIe", 79.2), "none");
  EXPECT_EQ(named("AMD Radeon Graphics", 64), "none");
  EXPECT_EQ(named(""), "none");
}

TEST(RecordedAccelerator, IsNotThePartOfOne) {
  EXPECT_EQ(named("AMD Instinct MI250X", 128), "mi250x");
  EXPECT_EQ(named("AMD Instinct MI250X", 64, 110), "none");
  EXPECT_EQ(named("NVIDIA A100-SXM4-80GB MIG 1g.10gb", 9.5, 14), "none");
}

TEST(RecordedAccelerator, IsOfTheDeviceThatWorked) {
  RecordedTrace trace;
  EXPECT_EQ(recorded_device(trace), nullptr);
  EXPECT_FALSE(recorded_accelerator(Catalog::built_in(), trace));
  trace.devices = {{"NVIDIA RTX A400", 0, 0}, {"NVIDIA H200", 0, 0}};
  EXPECT_EQ(recorded_device(trace)->name, "NVIDIA RTX A400");
  Lane stream;
  stream.device = true;
  stream.process = 1;
  trace.lanes.push_back(stream);
  EXPECT_EQ(recorded_device(trace)->name, "NVIDIA H200");
  EXPECT_EQ(recorded_accelerator(Catalog::built_in(), trace)->name, "h200-sxm");
}

}  // namespace
}  // namespace orrery
