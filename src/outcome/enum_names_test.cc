#include "outcome/enum_names.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

enum class Way { there, and_back };
enum class Vehicle : unsigned char { night_train, bus };
enum class Season { spring, summer };

EnumNames<Season> names_of(Season) {
  static constexpr auto kNames =
      std::to_array<EnumName<Season>>({{Season::summer, "hot"}, {Season::spring, "mild"}});
  return kNames;
}

struct Ticket {
  int price_in_cents = 0;
};

}  // namespace

template <>
inline constexpr char kWordSeparator<Vehicle> = '-';

namespace {

TEST(EnumNames, TheTextOfAnEnumeratorIsItsName) {
  EXPECT_EQ(enumerators<Way>(), 2U);
  EXPECT_EQ(to_text(Way::there), "there");
  EXPECT_EQ(to_text(Way::and_back), "and_back");
  EXPECT_EQ(to_text(static_cast<Way>(2)), "?");
  EXPECT_EQ(parse_enum<Way>("and-back"), Way::and_back);
}

TEST(EnumNames, WordsMayBeSeparatedOtherwise) {
  EXPECT_EQ(to_text(Vehicle::night_train), "night-train");
  EXPECT_EQ(parse_enum<Vehicle>("bus"), Vehicle::bus);
  EXPECT_EQ(parse_enum<Vehicle>("car").error().text(),
            "unknown value 'car' (known: night-train, bus)");
}

TEST(EnumNames, ATableReplacesTheNames) {
  EXPECT_EQ(to_text(Season::summer), "hot");
  EXPECT_EQ(parse_enum<Season>("mild"), Season::spring);
  EXPECT_FALSE(parse_enum<Season>("spring"));
}

TEST(EnumNames, MembersAreSpelledToo) {
  EXPECT_EQ(spelling<&Ticket::price_in_cents>(), "price_in_cents");
}

}  // namespace
}  // namespace orrery
