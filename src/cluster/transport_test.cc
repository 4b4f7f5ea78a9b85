#include "cluster/transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace orrery {
namespace {

constexpr BytesPerSecond kOffered(50e9);
constexpr Seconds kLatency(10e-3);  // 20 ms there and back

Transport lossy(double packet_drop_rate, Recovery recovery) {
  Transport out;
  out.packet_drop_rate = packet_drop_rate;
  out.recovery = recovery;
  return out;
}

// By hand: a window of 4 MB over 20 ms carries 0.2 GB/s a
// stream; packets of 9,000 B with one in a million lost carry 0.55 GB/s.
TEST(Delivery, WindowsAndLossesLimitAStream) {
  Transport t;
  t.window = Bytes(4e6);
  EXPECT_DOUBLE_EQ(delivery(kOffered, kLatency, t).rate.value(), 0.2e9);
  t.streams = 16;
  EXPECT_DOUBLE_EQ(delivery(kOffered, kLatency, t).rate.value(), 3.2e9);
  Transport mathis = lossy(1e-6, Recovery::tcp);
  mathis.packet = Bytes(9000);
  EXPECT_NEAR(delivery(kOffered, kLatency, mathis).rate.value(), 0.55e9, 0.01e9);
}

TEST(Delivery, WithoutLossOrWindowIsTheLink) {
  for (const Recovery recovery : {Recovery::selective, Recovery::go_back_n, Recovery::tcp}) {
    const Delivery d = delivery(kOffered, kLatency, lossy(0, recovery));
    EXPECT_EQ(d.rate, kOffered);
    EXPECT_EQ(d.repeats, Seconds(0));
  }
}

TEST(Delivery, FallsWithLossAndLatency) {
  for (const Recovery recovery : {Recovery::selective, Recovery::go_back_n, Recovery::tcp}) {
    BytesPerSecond last = kOffered;
    Seconds repeats;
    for (double p = 1e-9; p < 0.3; p *= 3) {
      const Transport t = lossy(p, recovery);
      const Delivery d = delivery(kOffered, kLatency, t);
      EXPECT_LE(d.rate, last);
      EXPECT_LE(delivery(kOffered, kLatency * 2, t).rate, d.rate);
      if (recovery == Recovery::selective) {
        EXPECT_GT(d.repeats, repeats);
      }
      last = d.rate;
      repeats = d.repeats;
    }
  }
}

// The closed form against packets that are drawn one by one: packet i of M arrives at
// i t + O (Y - 1), Y geometric; the extra time is that of the last arrival.
TEST(Delivery, RepeatsTakeAsLongAsSampledPackets) {
  std::mt19937_64 random(7);
  for (const double p : {1e-5, 1e-3, 0.05}) {
    const Transport t = lossy(p, Recovery::selective);
    const BytesPerSecond rate(1e9);
    const Seconds latency(0.5e-3);
    const double step = (t.packet / rate).value();
    const double again = 6 * latency.value() + step;
    const int packets = 4 * static_cast<int>(again / step);
    std::geometric_distribution<int> failures(1 - p);
    double sum = 0;
    const int samples = 3000;
    for (int s = 0; s < samples; ++s) {
      double last = packets * step;
      for (int i = 1; i <= packets; ++i) {
        last = std::max(last, i * step + again * failures(random));
      }
      sum += last - packets * step;
    }
    const double expected = delivery(rate, latency, t).repeats.value();
    EXPECT_NEAR(sum / samples, expected, 0.03 * expected + 2 * again / std::sqrt(samples) * 0.1)
        << p;
  }
}

}  // namespace
}  // namespace orrery
