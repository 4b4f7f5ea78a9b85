#include "cluster/transport.h"

#include <algorithm>
#include <cmath>

namespace orrery {

Fields<Transport> fields_of(const Transport*) {
  return Fields<Transport>("transport")
      .optional<&Transport::packet_drop_rate>("share of packets lost")
      .optional<&Transport::packet>("payload of one packet")
      .optional<&Transport::streams>("of one accelerator over the link")
      .optional<&Transport::window>("under way in one stream at most; absent: no limit")
      .optional<&Transport::recovery>("what a sender does about lost packets")
      .optional<&Transport::buffer>(
          "bytes that a switch port can hold for one accelerator; absent: as many as needed")
      .optional<&Transport::congestion>("what a port does when its buffer is full");
}

Result<void> check(const Transport& t) {
  if (!(t.packet_drop_rate >= 0 && t.packet_drop_rate <= 0.5)) {
    return bad_input("a packet drop rate outside 0 to 0.5", "packet_drop_rate",
                     "the share of packets lost, such as 1e-6");
  }
  if (!(t.packet >= Bytes(64) && t.packet <= Bytes(1 << 20))) {
    return bad_input("a packet outside 64 B to 1 MiB", "packet", "such as 4096 B");
  }
  if (t.streams < 1 || t.streams > 1'000'000) {
    return bad_input("streams outside 1 to 1000000", "streams",
                     "how many connections an accelerator uses over the link");
  }
  if (t.window && !(*t.window >= t.packet)) {
    return bad_input("a window smaller than one packet", "window",
                     "the bytes that may be under way in one stream, such as 4 MiB");
  }
  if (t.buffer && !(*t.buffer >= t.packet)) {
    return bad_input("a buffer smaller than one packet", "buffer",
                     "what a port of a switch holds for one accelerator, such as 4 MiB");
  }
  if (!t.buffer && t.congestion != Congestion::lossless) {
    return bad_input(std::string(to_text(t.congestion)) + " without a buffer", "congestion",
                     "add `buffer`, such as 4 MiB, or leave it out");
  }
  return {};
}

namespace {

// O sum over k of the integral in transport.h; `packets`: N.
Seconds expected_repeats(double p, Seconds until_repeated, double packets) {
  double sum = 0;
  double lost = packets * p;  // N p^k
  for (int k = 1; k < 1000 && lost > 1e-15; ++k) {
    const double again = lost * p / (1 - p);
    const double average = lost < 1e-8 ? lost / 2 : 1 + std::expm1(-lost) / lost;
    // 1 - exp(-again) (1 - exp(-lost)) / lost, without cancellation.
    sum += -std::expm1(-again) + std::exp(-again) * average;
    lost *= p;
  }
  return until_repeated * sum;
}

// u of transport.h; `most` and `least`: w and v.
double share_filled(double most, double least) {
  if (least >= 1) return 1;
  return (most * most - least * least) / (2 * (1 - least) + most * most - 1);
}

// What is left of `rate` where windows may be as large as they like and meet the buffer of a port.
BytesPerSecond rate_through_port(BytesPerSecond rate, Seconds rtt, const Transport& t) {
  if (t.congestion == Congestion::lossless) return std::min(rate, *t.buffer / rtt);
  const Bytes link = rate * rtt;
  if (t.congestion == Congestion::drop) {
    const double most = 1 + *t.buffer / link;
    return rate * share_filled(most, most / 2);
  }
  const double marked = 1 + *t.buffer / link;
  return rate * share_filled(marked * 9 / 8, marked * 7 / 8);
}

constexpr double kLeastWindow = 2;  // packets of a stream that are always under way

// Of the packets that so many send to one accelerator.
double lost_by_incast(Bytes room, double senders, const Transport& t) {
  const Bytes least = t.packet * (kLeastWindow * senders * static_cast<double>(t.streams));
  return senders <= 1 || room >= least ? 0 : 1 - room / least;
}

}  // namespace

Delivery delivery(BytesPerSecond offered, Seconds latency, const Transport& t, double senders) {
  const Seconds rtt = latency * 2;
  const auto streams = static_cast<double>(t.streams);
  double p = t.packet_drop_rate;
  Delivery out{.rate = offered, .repeats = Seconds(0)};
  if (rtt > Seconds(0) && t.window) out.rate = std::min(out.rate, *t.window * streams / rtt);
  if (t.buffer && t.congestion != Congestion::lossless) {
    p = 1 - (1 - p) * (1 - lost_by_incast(*t.buffer, senders, t));
  }
  if (t.buffer && rtt > Seconds(0)) {
    out.rate = std::min(out.rate, rate_through_port(offered, rtt, t));
  }
  if (p <= 0) return out;
  switch (t.recovery) {
    case Recovery::selective: {
      const Seconds until_repeated = rtt * 3 + t.packet / out.rate;
      out.repeats = expected_repeats(p, until_repeated, until_repeated * out.rate / t.packet);
      out.rate *= 1 - p;
      break;
    }
    case Recovery::go_back_n:
      out.rate *= (1 - p) / (1 - p + p * std::max(1.0, out.rate / streams * rtt / t.packet));
      break;
    case Recovery::tcp:
      if (rtt > Seconds(0)) {
        out.rate = std::min(out.rate, t.packet * (streams * std::sqrt(1.5 / p)) / rtt);
      }
      break;
  }
  return out;
}

}  // namespace orrery
