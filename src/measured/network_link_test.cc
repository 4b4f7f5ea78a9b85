#include "measured/network_link.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr double kGigabit = 1e9 / 8;

struct Case {
  std::string_view text;
  double node;  // Gb/s
  double accelerator;
  std::string_view fabric;
};

// Every text of the complete rows in validation/measured that states a rate.
TEST(NetworkLink, ReadsTheWordsOfTheSources) {
  for (const Case& c : {
           Case{"4 Omni-Path (OPA) links per node", 400, 0, "omni-path-100g"},
           Case{"4x Omni-Path links per node", 400, 0, "omni-path-100g"},
           Case{"1600 Gbps RoCE per node", 1600, 0, ""},
           Case{"4 x 100 Gb RoCE per node", 400, 0, "roce-100g"},
           Case{"8x 200 Gb/s HDR InfiniBand per node", 1600, 0, "infiniband-hdr"},
           Case{"8x 200Gbps HDR InfiniBand per node (Selene)", 1600, 0, "infiniband-hdr"},
           Case{"RDMA 400 Gb/s per GPU", 0, 400, ""},
           Case{"RDMA 400 Gb/s ConnectX-7 per GPU", 0, 400, ""},
           Case{"4x ConnectX-7 IB NDR 400Gb/s", 1600, 0, "infiniband-ndr"},
           Case{"4x ConnectX-7 IB NDR 400Gb/Sec", 1600, 0, "infiniband-ndr"},
           Case{"4x ConnectX-8 IB XDR 800 Gb/s", 3200, 0, "infiniband-xdr"},
           Case{"InfiniBand 8x50 GB/s per node", 3200, 0, "infiniband-ndr"},
           Case{"400 Gbps per node", 400, 0, ""},
           Case{"Storage+Management: 1x NVIDIA BlueField 2 DPU 100Gb/s, Compute: 8x NVIDIA "
                "ConnectX-7 IB NDR 400Gb/s",
                3200, 0, "infiniband-ndr"},
           Case{"Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s, "
                "Management: 100Gb/s Ethernet NIC",
                3200, 0, "infiniband-ndr"},
           Case{"8x ConnectX-7 IB NDR 400Gb/s + 200Gb/s Ethernet NIC", 3200, 0, "infiniband-ndr"},
           Case{"1x Ethernet 100Gb/Sec, 8x NVIDIA Quantum-2 CX7 InfiniBand (400Gb/s)", 3200, 0,
                "infiniband-ndr"},
           Case{"InfiniBand; Data bandwidth for GPU-PCIe: 504 GB/s; PCIe-NIC: 500 GB/s", 4000, 0,
                ""},
           Case{"8x 400 Gb/s InfiniBand, NVLink 900 GB/s", 3200, 0, "infiniband-ndr"},
           Case{"RoCE, 4x 100 Gb/s per node", 400, 0, "roce-100g"},
           Case{"4x 100 Gb/s; RoCE", 400, 0, "roce-100g"},
           Case{"400 Gb/s, per GPU, InfiniBand", 0, 400, "infiniband-ndr"},
           Case{"1x 200 Gb/s RoCE for storage and training", 200, 0, "roce-200g"},
           Case{"Storage&Compute: 4x ConnectX-7 IB NDR 400Gb/s, Management: 25Gb/s Ethernet NIC",
                1600, 0, "infiniband-ndr"},
           Case{"400 Gbps RoCE per GPU, 3-layer Clos", 0, 400, "roce-400g"},
           Case{"8 x 400 Gb/s", 3200, 0, ""},
       }) {
    const auto link = network_link(c.text);
    ASSERT_TRUE(link) << c.text;
    EXPECT_DOUBLE_EQ(link->node.value(), c.node * kGigabit) << c.text;
    EXPECT_DOUBLE_EQ(link->accelerator.value(), c.accelerator * kGigabit) << c.text;
    EXPECT_EQ(link->fabric, c.fabric) << c.text;
  }
}

TEST(NetworkLink, ATextWithoutARateGivesNone) {
  for (const char* text : {"", "Ethernet", "Google A3 VM network", "Infiniband, Ethernet", "NVL72",
                           "2 x MT2894 Family [ConnectX-6 Lx], 2 x MT2910 Family [ConnectX-7]",
                           "0 x 100 Gb/s", "Management: 1x Ethernet 10GB/Sec", "EFA (p5)"}) {
    EXPECT_FALSE(network_link(text)) << text;
  }
}

TEST(NetworkLink, ReadsAHostileTextInOnePass) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += " and ";
  EXPECT_FALSE(network_link(text));
  for (int i = 0; i < 200'000; ++i) text += ", + ;";
  EXPECT_FALSE(network_link(text));
}

TEST(NetworkLink, SharesANodesCardsAmongItsAccelerators) {
  const auto node = network_link("8x 200 Gb/s HDR InfiniBand per node");
  const auto device = network_link("RDMA 400 Gb/s per GPU");
  ASSERT_TRUE(node && device);
  EXPECT_DOUBLE_EQ(node->per_accelerator(8).value(), 25e9);
  EXPECT_DOUBLE_EQ(node->per_accelerator(16).value(), 12.5e9);
  EXPECT_DOUBLE_EQ(device->per_accelerator(8).value(), 50e9);
  EXPECT_DOUBLE_EQ(device->per_accelerator(16).value(), 50e9);
}

TEST(NetworkLink, OneServerHasNoNetwork) {
  EXPECT_TRUE(is_single_node("single node"));
  EXPECT_TRUE(is_single_node("single server"));
  EXPECT_FALSE(is_single_node("8 x 400 Gb/s"));
}

}  // namespace
}  // namespace orrery
