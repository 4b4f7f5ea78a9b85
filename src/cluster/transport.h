// How messages travel over a long link that loses packets: what rate is left, and what repeating
// lost packets adds.
//
//   window       a stream has at most `window` bytes under way: rate <= streams * window / rtt
//   selective    lost packets alone are sent again: rate (1 - p), and the last of them arrive late
//                by   E[extra] = O sum over k >= 1 of the integral over x from 0 to 1 of
//                     1 - exp(-N ((1 - x) p^k + p^(k+1) / (1 - p)))   (in closed form)
//                O = 3 rtt + packet / rate, until a packet is sent again; N = O rate / packet, the
//                packets in that time. From SDR-RDMA (arXiv 2505.05366, section 4: packet i arrives
//                at i t + O (Y_i - 1), Y_i geometric), for messages of at least N packets, losses
//                taken as a Poisson process; of shorter messages it is an upper bound.
//   go-back-n    everything after a lost packet is sent again: rate / (1 + p W), W packets under way
//                (Lin and Costello, Error Control Coding, section 22.2)
//   tcp          rate <= streams * (packet / rtt) 1.22 / sqrt(p) (Mathis et al., CCR 27(3), 1997)
//
// p: packet drop rate; rtt: twice the latency of the link. Not modelled: erasure codes; losses that
// depend on the load.
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

struct Transport {
  double packet_drop_rate = 0;
  Bytes packet{4096};
  std::int64_t streams = 1;     // of one accelerator over the link
  std::optional<Bytes> window;  // of one stream; empty: as much as the link holds
  Recovery recovery = Recovery::selective;
  bool operator==(const Transport&) const = default;
};
const Fields<Transport>& fields_of(const Transport*);

// Error: figures that are impossible, with the values that are allowed.
Result<void> check(const Transport& transport);

struct Delivery {
  BytesPerSecond rate;  // of one accelerator
  Seconds repeats;      // that a message takes longer because its last packets are repeated
};

// `offered`: the rate of one accelerator on a link without losses; `latency`: one way. Monotone: a
// higher loss or latency never gives a higher rate.
Delivery delivery(BytesPerSecond offered, Seconds latency, const Transport& transport);

}  // namespace orrery
