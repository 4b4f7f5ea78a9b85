// How messages travel over a link that is long, loses packets or has switches of few buffers: what
// rate is left, and what repeating lost packets adds.
//
//   window       a stream has at most `window` bytes under way: rate <= streams * window / rtt;
//                beside a buffer the lower of both rates counts
//   selective    lost packets alone are sent again: rate (1 - p), and the last of them arrive late
//                by   E[extra] = O sum over k >= 1 of the integral over x from 0 to 1 of
//                     1 - exp(-N ((1 - x) p^k + p^(k+1) / (1 - p)))   (in closed form)
//                O = 3 rtt + packet / rate, until a packet is sent again; N = O rate / packet, the
//                packets in that time. From SDR-RDMA (arXiv 2505.05366), section 4.2.2: packet i
//                arrives at i t + O (Y_i - 1), Y_i geometric; section 5.1.1: a timeout of 3 rtt. For
//                messages of at least N packets, losses taken as a Poisson process; of shorter
//                messages it is an upper bound.
//   go-back-n    everything after a lost packet is sent again: rate (1 - p) / (1 - p + p W), W packets
//                under way (stated as well known by Leung et al., IEEE Trans. Commun. 36(2), 1988,
//                doi 10.1109/26.2758, who write p for 1 - p and m for W)
//   tcp          rate <= streams * (packet / rtt) sqrt(3/2) / sqrt(p): windows that are halved once
//                in 1 / p packets (Mathis et al., CCR 27(3), 1997, doi 10.1145/263932.264023)
//
// With a buffer of B bytes in the port on the way (of one accelerator's part of it), D = rate * rtt:
//
//   lossless     a port that is full tells the port before it to stop. Until that takes effect it must
//                still hold what is under way, so that rate <= B / rtt, whether by credits or by pause
//                frames (Kung, Blackwell, Chapman, Credit-based flow control for ATM networks,
//                SIGCOMM 1994; IEEE 802.1Qbb)
//   ecn, drop    the windows of all streams together grow to w D and then fall to v D. While they are
//                below D the link is partly idle, so that rate = u * offered rate, with
//                  u = (w^2 - v^2) / (2 (1 - v) + w^2 - 1) if v < 1, else 1
//                (packets of a sawtooth over the time they take, which a queue lengthens)
//                drop: w D = D + B, v = w / 2, so that u is 3/4 without a buffer and 1 from B = D on
//                (Appenzeller et al., SIGCOMM 2004, doi 10.1145/1015467.1015499, section 2).
//                ecn, B the threshold of marking, m the packets of all streams: w D = D + B + m,
//                (w - v) D = sqrt(2 m (D + B)) / 2 (DCTCP, SIGCOMM 2010, doi 10.1145/1851182.1851192,
//                equations 8 and 10). As there (section 3.4), for the number of streams by which the
//                least window is least, m = (D + B) / 8:
//                  w D = 9/8 (D + B),   v D = 7/8 (D + B)
//                so that u is 1 from B = D / 7 on and 0.970 without a buffer. (Of one given number of
//                streams, u would rise again on a longer link; the number that leaves least leaves
//                0.963.)
//   incast       n accelerators that send to one have at least two packets of each stream under way:
//                what of n * streams * 2 packet > B does not fit is lost, unless ports are lossless
//                (DCTCP, section 4.2.1: timeouts begin with 35 senders, for 35 * 2 * 1.5 KB > 100 KB;
//                Vasudevan et al., SIGCOMM 2009, doi 10.1145/1592568.1592604, for what follows)
//
// p: packet drop rate; rtt: twice the latency of the link. Not modelled: erasure codes; timeouts;
// the time in a queue; flows that a full lossless port stops though they go elsewhere; streams that
// are out of step, which need less buffer.
#pragma once

#include <cstdint>
#include <optional>

#include "document/fields.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

// What a sender does about a lost packet.
enum class Recovery : std::uint8_t { selective, go_back_n, tcp };
template <>
inline constexpr char kWordSeparator<Recovery> = '-';  // "go-back-n"

// What a port of a switch does when its buffer is full, and before.
enum class Congestion : std::uint8_t { lossless, ecn, drop };

struct Transport {
  double packet_drop_rate = 0;
  Bytes packet{4096};
  std::int64_t streams = 1;     // of one accelerator over the link
  std::optional<Bytes> window;  // of one stream; empty: as much as the link holds
  Recovery recovery = Recovery::selective;
  std::optional<Bytes> buffer;  // of a port, for one accelerator; empty: as much as is needed
  Congestion congestion = Congestion::lossless;
  bool operator==(const Transport&) const = default;
};
Fields<Transport> fields_of(const Transport*);

// Error: figures that are impossible, with the values that are allowed.
Result<void> check(const Transport& transport);

struct Delivery {
  BytesPerSecond rate;  // of one accelerator
  Seconds repeats;      // that a message takes longer because its last packets are repeated
};

// `offered`: the rate of one accelerator on a link without losses; `latency`: one way; `senders`: that
// send to one accelerator at once. Monotone: a higher loss or latency, a smaller window or buffer and
// more senders never give a higher rate.
Delivery delivery(BytesPerSecond offered, Seconds latency, const Transport& transport,
                  double senders = 1);

}  // namespace orrery
