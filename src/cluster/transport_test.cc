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

Transport through_port(Congestion congestion, Bytes buffer) {
  Transport out;
  out.congestion = congestion;
  out.buffer = buffer;
  return out;
}

constexpr Bytes kUnderWay = kOffered * kLatency * 2;  // what the link holds

// Credits: what is under way must fit into the buffer (Kung, Blackwell, Chapman, Credit-based flow
// control for ATM networks, SIGCOMM 1994).
TEST(Delivery, ALosslessPortNeedsRoomForWhatIsUnderWay) {
  const auto rate = [](Bytes buffer) {
    return delivery(kOffered, kLatency, through_port(Congestion::lossless, buffer)).rate;
  };
  EXPECT_DOUBLE_EQ(rate(kUnderWay / 4.0) / kOffered, 0.25);
  EXPECT_EQ(rate(kUnderWay * 1.001), kOffered);
}

double share_through_port(Congestion congestion, double held) {
  return delivery(kOffered, kLatency, through_port(congestion, kUnderWay * held)).rate / kOffered;
}

// Windows that are halved leave three quarters of a link without a buffer, and need one of what the
// link holds to fill it (Appenzeller et al. 2004); those of DCTCP need a seventh of that (Alizadeh et
// al. 2010, equation 13).
TEST(Delivery, AWindowNeedsTheBufferOfItsPaper) {
  EXPECT_NEAR(share_through_port(Congestion::drop, 1e-5), 0.75, 1e-4);
  EXPECT_LT(share_through_port(Congestion::drop, 0.9), 1);
  EXPECT_EQ(share_through_port(Congestion::drop, 1), 1);
  EXPECT_NEAR(share_through_port(Congestion::ecn, 1e-5), 32.0 / 33, 1e-5);
  EXPECT_LT(share_through_port(Congestion::ecn, 0.99 / 7), 1);
  EXPECT_EQ(share_through_port(Congestion::ecn, 1.001 / 7), 1);
}

// No number of streams lets the windows of DCTCP fall further (equations 8, 10 and 12 of the paper), or
// leaves a link less filled by more than 0.007.
TEST(Delivery, DctcpIsThatOfTheWorstNumberOfStreams) {
  for (const double held : {0.001, 0.01, 0.03, 0.06, 0.1, 0.13}) {
    double least = 1;
    double worst = 1;
    for (double packets = 1e-5; packets < 2; packets *= 1.02) {  // of all streams, in what is held
      const double most = 1 + held + packets;
      const double fallen = most - std::sqrt(2 * packets * (1 + held)) / 2;
      least = std::min(least, fallen);
      if (fallen >= 1) continue;
      worst =
          std::min(worst, (most * most - fallen * fallen) / (2 * (1 - fallen) + most * most - 1));
    }
    EXPECT_NEAR(least, 7.0 / 8 * (1 + held), 1e-3) << held;
    EXPECT_NEAR(share_through_port(Congestion::ecn, held), worst, 7e-3) << held;
  }
}

// p / (p + m (1 - p)) of Leung et al. (1988), p the share of packets that arrive: with one packet under
// way nothing else is sent again.
TEST(Delivery, GoBackNSendsAgainWhatIsUnderWay) {
  Transport t = lossy(0.2, Recovery::go_back_n);
  t.packet = Bytes(1 << 20);
  EXPECT_NEAR(delivery(kOffered, Seconds(0), t).rate / kOffered, 0.8, 1e-12);
  const double under_way = kUnderWay / t.packet;
  EXPECT_NEAR(delivery(kOffered, kLatency, t).rate / kOffered, 0.8 / (0.8 + 0.2 * under_way),
              1e-12);
}

// The closed form against a window that is played round trip by round trip.
TEST(Delivery, AWindowFillsAsMuchAsItIsPlayed) {
  constexpr double kHeld = 10'000;  // packets that the link holds
  for (const double buffer : {0.05, 0.3, 0.8}) {
    double window = (kHeld + buffer * kHeld) / 2;
    double sent = 0;
    double trips = 0;
    for (; window <= kHeld + buffer * kHeld; ++window) {
      sent += window;
      trips += std::max(1.0, window / kHeld);  // a queue makes it longer
    }
    const Transport t = through_port(Congestion::drop, kUnderWay * buffer);
    EXPECT_NEAR(delivery(kOffered, kLatency, t).rate / kOffered, sent / trips / kHeld, 1e-3);
  }
}

// Two packets of each sender fit or are lost; twice the room is enough for twice the senders. With the
// port of DCTCP's section 4.2.1, 100 KB, packets of 1.5 KB are lost from the 34th sender on; it saw
// timeouts from the 35th on.
TEST(Delivery, ManySendersOverflowAPort) {
  constexpr Seconds kShort(2e-6);
  Transport t = through_port(Congestion::ecn, Bytes(1 << 20));
  const double fitting = *t.buffer / t.packet / 2;
  const auto rate = [&](double senders) { return delivery(kOffered, kShort, t, senders).rate; };
  EXPECT_EQ(rate(fitting), rate(1));
  EXPECT_NEAR(rate(2 * fitting) / rate(1), 0.5, 1e-9);
  t.recovery = Recovery::go_back_n;
  EXPECT_LT(rate(2 * fitting) / rate(1), 0.1);
  t.congestion = Congestion::lossless;
  EXPECT_EQ(rate(1000 * fitting), rate(1));
  Transport measured = through_port(Congestion::ecn, Bytes(100e3));
  measured.packet = Bytes(1500);
  EXPECT_EQ(delivery(kOffered, kShort, measured, 33).rate,
            delivery(kOffered, kShort, measured).rate);
  EXPECT_LT(delivery(kOffered, kShort, measured, 34).rate,
            delivery(kOffered, kShort, measured).rate);
}

TEST(Delivery, NeverGainsBySendersOrASmallerBuffer) {
  for (const Congestion congestion : {Congestion::lossless, Congestion::ecn, Congestion::drop}) {
    for (const Recovery recovery : {Recovery::selective, Recovery::go_back_n, Recovery::tcp}) {
      BytesPerSecond last(0);
      for (double buffer = 4096; buffer < 1e10; buffer *= 3) {
        Transport t = through_port(congestion, Bytes(buffer));
        t.recovery = recovery;
        const BytesPerSecond rate = delivery(kOffered, kLatency, t, 1e6).rate;
        EXPECT_GE(rate, last * (1 - 1e-12));
        EXPECT_LE(rate, delivery(kOffered, kLatency, t, 10).rate);
        EXPECT_LE(delivery(kOffered, kLatency, t, 10).rate, kOffered);
        last = rate;
      }
    }
  }
}

// A longer link, a smaller window and a smaller buffer never give a higher rate.
TEST(Delivery, NeverGainsByALongerLinkOrASmallerWindow) {
  for (const Congestion congestion : {Congestion::lossless, Congestion::ecn, Congestion::drop}) {
    for (const Recovery recovery : {Recovery::selective, Recovery::go_back_n, Recovery::tcp}) {
      for (const double senders : {1.0, 100.0, 1e5}) {
        const auto rate = [&](double window, double buffer, double latency) {
          Transport t = through_port(congestion, Bytes(buffer));
          t.recovery = recovery;
          t.streams = 4;
          if (window > 0) t.window = Bytes(window);
          return delivery(kOffered, Seconds(latency), t, senders).rate.value();
        };
        for (double window = 4096; window < 1e9; window *= 7) {
          for (double buffer = 4096; buffer < 1e9; buffer *= 7) {
            for (double latency = 1e-7; latency < 1; latency *= 1.7) {
              const double here = rate(window, buffer, latency) * (1 + 1e-12);
              EXPECT_LE(rate(window, buffer, latency * 1.7), here);
              EXPECT_LE(rate(window / 7 < 4096 ? 4096 : window / 7, buffer, latency), here);
              EXPECT_LE(rate(window, buffer / 7 < 4096 ? 4096 : buffer / 7, latency), here);
              EXPECT_LE(here, rate(0, buffer, latency) * (1 + 1e-9));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery
