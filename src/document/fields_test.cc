#include "document/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/provenance.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class Shape { ring, full_mesh };
constexpr std::array kShapes =
    std::to_array<EnumName<Shape>>({{Shape::ring, "ring"}, {Shape::full_mesh, "full-mesh"}});
EnumNames<Shape> names_of(Shape) { return kShapes; }

struct Port {
  std::string name;
  BytesPerSecond rate;
  bool operator==(const Port&) const = default;
};
Fields<Port> fields_of(const Port*) {
  return Fields<Port>("port")
      .required<&Port::name>("identifier")
      .required<&Port::rate>("one direction");
}

struct Device {
  std::string name;
  Bytes memory;
  Shape shape = Shape::ring;
  std::optional<Seconds> latency;
  std::vector<Port> ports;
  std::int32_t count = 4;
  double share = 0.5;
  bool shared = false;
  bool operator==(const Device&) const = default;
};
Fields<Device> fields_of(const Device*) {
  return Fields<Device>("device")
      .required<&Device::name>("identifier")
      .required<&Device::memory>("capacity")
      .optional<&Device::shape>("of its links")
      .optional<&Device::latency>("of its links")
      .optional<&Device::ports>("to the outside")
      .optional<&Device::count>("of units")
      .optional<&Device::share>("in use")
      .optional<&Device::shared>("by several");
}

Result<Device> from(const std::string& text) {
  auto document = parse_yaml(text, "f.yaml");
  if (!document) return fail(document.error());
  return read<Device>(*document);
}

std::string error_of(const std::string& text) {
  const auto device = from("name: x\nmemory: 1 GiB\n" + text);
  return device ? "accepted" : device.error().text();
}

TEST(Fields, ReadsEveryKindOfMember) {
  const auto d = from(R"(
name: x
memory: 80 GiB
shape: full_mesh
latency: 12 us
ports: [{name: a, rate: 400 Gb/s}]
count: 1e1
share: 0.25
shared: true
)");
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->memory, Bytes(80.0 * (1 << 30)));
  EXPECT_EQ(d->shape, Shape::full_mesh);
  EXPECT_EQ(d->latency, Seconds(12e-6));
  EXPECT_THAT(d->ports, ElementsAre(Port{"a", BytesPerSecond(50e9)}));
  EXPECT_EQ(d->count, 10);
  EXPECT_EQ(d->share, 0.25);
  EXPECT_TRUE(d->shared);
}

TEST(Fields, AbsentAndNullKeepTheInitialValue) {
  const auto d = from("name: x\nmemory: 1 GiB\ncount: null\nlatency: ~\n");
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->count, 4);
  EXPECT_EQ(d->latency, std::nullopt);
}

TEST(Fields, WritesOnlyWhatDiffersAndReadsItBack) {
  Device d;
  d.name = "12";  // a text that looks like a number
  d.memory = Bytes(1e9);
  const Value plain = Codec<Device>::write(d);
  EXPECT_EQ(plain.members().size(), 2u);
  d.shape = Shape::full_mesh;
  d.latency = Seconds(0.1);
  d.ports = {{"a", BytesPerSecond(1.0 / 3)}, {"b", BytesPerSecond(0)}};
  d.count = -7;
  d.share = 1e-300;
  d.shared = true;
  const auto again = from(to_yaml(Codec<Device>::write(d)));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, d);
}

TEST(Fields, ErrorsSayFileLineFieldAndWhatIsRight) {
  EXPECT_EQ(error_of("latenci: 1 us\n"),
            "f.yaml: line 3: unknown field 'latenci' in device (did you mean 'latency'?)");
  EXPECT_EQ(error_of("shape: rink\n"),
            "f.yaml: line 3, shape: unknown value 'rink' (did you mean 'ring'?)");
  EXPECT_EQ(error_of("ports:\n  - {name: a, rate: 1 GB/s}\n  - {name: b}\n"),
            "f.yaml: ports: [1]: line 5: missing field 'rate' in port "
            "(quantity such as \"3.35 TB/s\": one direction)");
  EXPECT_THAT(error_of("latency: 12\n"), HasSubstr("f.yaml: line 3, latency: '12' has no unit"));
  EXPECT_THAT(error_of("ports: 7\n"), HasSubstr("expected a list"));
  EXPECT_THAT(error_of("ports: [7]\n"), HasSubstr("expected a map with the fields of a port"));
  EXPECT_THAT(error_of("latency: [1]\n"), HasSubstr("expected text"));
  EXPECT_THAT(error_of("shared: yes\n"), HasSubstr("'yes' is not a truth value"));
  EXPECT_THAT(from("[]").error().text(), HasSubstr("expected a map with the fields of a device"));
  EXPECT_THAT(from("name: x\n").error().text(), HasSubstr("missing field 'memory'"));
  EXPECT_THAT(from("name: null\nmemory: 1 GiB\n").error().text(), HasSubstr("name: expected text"));
}

TEST(Fields, RefusesNumbersThatAreNot) {
  EXPECT_THAT(error_of("count: 1.5\n"), HasSubstr("'1.5' is not a whole number"));
  EXPECT_THAT(error_of("count: 3000000000\n"), HasSubstr("out of range"));
  EXPECT_THAT(error_of("count: 1e300\n"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of("count: 99999999999999999999\n"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of("count: \"4\"\n"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of("share: nan\n"), HasSubstr("not a finite number"));
  EXPECT_THAT(error_of("share: 1e999\n"), HasSubstr("not a finite number"));
}

TEST(Fields, DescribeThemselves) {
  const auto& fields = field_table<Device>().description().fields;
  EXPECT_EQ(to_text(fields[1].shape), "quantity such as \"80 GiB\"");
  EXPECT_EQ(to_text(fields[2].shape), "ring | full-mesh");
  EXPECT_EQ(to_text(fields[4].shape), "list of port");
}

TEST(Provenance, ReadsItsFourFields) {
  const auto document =
      parse_yaml("source: a paper\nverified: true\nunverified: [peak.fp64]\nnotes: n\n", "f.yaml");
  ASSERT_TRUE(document);
  const auto p = read<Provenance>(*document);
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_TRUE(p->verified);
  EXPECT_THAT(p->unverified, ElementsAre("peak.fp64"));
}

}  // namespace
}  // namespace orrery
