// Every hardware entry of the catalog: it reads, it says where it comes from, and its figures do
// not contradict each other or those of the entries it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "cluster/accelerator.h"
#include "cluster/cluster.h"
#include "cluster/cluster_description.h"
#include "cluster/fabric.h"
#include "cluster/link.h"
#include "cluster/node.h"
#include "cluster/price.h"

namespace orrery {
namespace {

using ::testing::SizeIs;

const Catalog& catalog() { return Catalog::built_in(); }

// Reads every entry of a kind, writes it and reads it again.
template <class T>
std::vector<T> all(const char* kind, Result<T> (*load)(const Catalog&, std::string_view)) {
  std::vector<T> out;
  for (const std::string& name : catalog().names(kind)) {
    const auto entry = load(catalog(), name);
    EXPECT_TRUE(entry) << (entry ? "" : entry.error().text());
    if (!entry) continue;
    EXPECT_EQ(entry->name, name);
    EXPECT_FALSE(entry->provenance.source.empty()) << name;
    const auto text = to_yaml(Codec<T>::write(*entry));
    const auto document = parse_yaml(text, name);
    EXPECT_TRUE(document) << text;
    if (!document) continue;
    const auto again = read<T>(*document);
    EXPECT_TRUE(again) << (again ? "" : again.error().text());
    if (again) {
      EXPECT_EQ(*again, *entry) << text;
    }
    out.push_back(*entry);
  }
  return out;
}

// True if the entry has a field of that path ("memory.capacity"), set or not.
bool has_field(const Fields<Accelerator>& fields, const std::string& path) {
  const std::string head = path.substr(0, path.find('.'));
  for (const auto& field : fields.description().fields) {
    if (field.key == head) return true;
  }
  return false;
}

TEST(HardwareCatalog, AcceleratorsAreConsistent) {
  const auto accelerators = all<Accelerator>("accelerators", load_accelerator);
  EXPECT_THAT(accelerators, SizeIs(::testing::Ge(36u)));
  const auto& fields = field_table<Accelerator>();
  for (const Accelerator& a : accelerators) {
    SCOPED_TRACE(a.name);
    EXPECT_TRUE(check(a));  // among others: no peak below its achieved figure
    EXPECT_TRUE(catalog().contains("nodes", a.default_node)) << a.default_node;
    // Narrower formats are never slower on the matrix units.
    if (a.peaks.fp8 && a.peaks.bf16) {
      EXPECT_GE(*a.peaks.fp8, *a.peaks.bf16);
    }
    if (a.peaks.fp4 && a.peaks.fp8) {
      EXPECT_GE(*a.peaks.fp4, *a.peaks.fp8);
    }
    if (a.peaks.bf16 && a.peaks.tf32) {
      EXPECT_GE(*a.peaks.bf16, *a.peaks.tf32);
    }
    // Nobody builds less than 10 FLOP or more than 1000 FLOP a byte of memory bandwidth.
    const auto peak =
        a.peak(NumberFormat::bf16) ? a.peak(NumberFormat::bf16) : a.peak(NumberFormat::fp16);
    ASSERT_TRUE(peak);
    EXPECT_GT((*peak / a.memory.bandwidth).value(), 10);
    EXPECT_LT((*peak / a.memory.bandwidth).value(), 1000);
    if (a.memory.marketed) {
      EXPECT_NEAR(a.memory.capacity / *a.memory.marketed, 1.04, 0.05);
    }
    if (a.scale_up.peer_bandwidth) {
      EXPECT_LE(*a.scale_up.peer_bandwidth, a.scale_up.bandwidth);
    }
    for (const std::string& field : a.provenance.unverified) {
      EXPECT_TRUE(has_field(fields, field)) << field;
    }
  }
}

TEST(HardwareCatalog, NodesNameAcceleratorsAndFabricsThatExist) {
  for (const Node& node : all<Node>("nodes", load_node)) {
    SCOPED_TRACE(node.name);
    if (!node.accelerator.empty()) {
      const auto a = load_accelerator(catalog(), node.accelerator);
      ASSERT_TRUE(a);
      // A device cannot give the node more than it has.
      if (node.scale_up.bandwidth) {
        EXPECT_LE(*node.scale_up.bandwidth, a->scale_up.bandwidth);
      }
    }
    if (!node.scale_out.fabric.empty()) {
      EXPECT_TRUE(catalog().contains("fabrics", node.scale_out.fabric));
    }
    EXPECT_TRUE(node.scale_up.domain == 1 || node.scale_up.domain % node.accelerators == 0);
    // Bandwidth per accelerator is what the cards give together. Gaudi spends 21 of its 24 ports
    // on the scale-up mesh, so its cards are counted in both.
    const NodeScaleOut& out = node.scale_out;
    if (out.nics && out.nic_rate && out.bandwidth) {
      const double cards = static_cast<double>(*out.nics);
      const double devices = static_cast<double>(node.accelerators);
      EXPECT_NEAR(*out.nic_rate * cards / (*out.bandwidth * devices), 1, 1e-9);
    }
  }
}

TEST(HardwareCatalog, FabricsAreWithinPhysics) {
  for (const Fabric& f : all<Fabric>("fabrics", load_fabric)) {
    SCOPED_TRACE(f.name);
    EXPECT_TRUE(f.kind == "scale-up" || f.kind == "host" || f.kind == "scale-out") << f.kind;
    if (f.port_rate && f.bandwidth) {
      EXPECT_NEAR(*f.port_rate / *f.bandwidth, 1, 1e-3);
    }
    if (f.small_message_latency) {
      EXPECT_LT(*f.small_message_latency, Seconds(1e-3));
    }
  }
}

TEST(HardwareCatalog, LinksAreNotFasterThanLightInVacuum) {
  constexpr double kKilometresPerSecond = 299792.458;
  for (const Link& link : all<Link>("links", load_link)) {
    SCOPED_TRACE(link.name);
    if (!link.distance_km || !link.round_trip_time) continue;
    EXPECT_GE(link.round_trip_time->value(), 2 * *link.distance_km / kKilometresPerSecond * 0.999);
  }
}

TEST(HardwareCatalog, PricesNameAcceleratorsThatExist) {
  for (const Price& price : all<Price>("prices", load_price)) {
    EXPECT_TRUE(catalog().contains("accelerators", price.accelerator)) << price.name;
    EXPECT_GT(price.price, DollarsPerSecond(0.1 / 3600)) << price.name;
    EXPECT_LT(price.price, DollarsPerSecond(50.0 / 3600)) << price.name;
  }
}

TEST(HardwareCatalog, ClustersBuildAndSurviveWriting) {
  for (const std::string& name : catalog().names("clusters")) {
    SCOPED_TRACE(name);
    const auto document = catalog().find("clusters", name);
    ASSERT_TRUE(document);
    const auto description = read<ClusterDescription>(*document);
    ASSERT_TRUE(description) << description.error().text();
    EXPECT_FALSE(description->provenance.source.empty());
    const auto cluster = parse_cluster(name, catalog());
    ASSERT_TRUE(cluster) << cluster.error().text();
    EXPECT_EQ(cluster->accelerators, description->accelerators);
    const auto written = parse_yaml(to_yaml(Codec<Cluster>::write(*cluster)), name);
    ASSERT_TRUE(written);
    const auto again = read_cluster(*written, catalog());
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, *cluster);
  }
}

TEST(HardwareCatalog, EveryAcceleratorHasAUsualCluster) {
  for (const std::string& name : catalog().names("accelerators")) {
    for (const char* count : {":1", ":16", ":1024"}) {
      const auto cluster = parse_cluster(name + count, catalog());
      ASSERT_TRUE(cluster) << cluster.error().text();
      EXPECT_TRUE(check(*cluster));
      EXPECT_EQ(cluster->accelerator.name, name);
      // The network is never faster than the scale-up domain, or it would be the scale-up domain.
      if (cluster->accelerator.scale_up.bandwidth.value() > 0 &&
          cluster->accelerator.default_node != "generic-pcie-8" && cluster->levels.size() > 1 &&
          cluster->accelerators_per_node > 1) {
        EXPECT_GT(cluster->levels[0].bandwidth, cluster->levels[1].bandwidth) << name;
      }
    }
  }
}

}  // namespace
}  // namespace orrery
