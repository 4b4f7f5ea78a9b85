// How much slower kernels and collectives are in a training step than in a benchmark.
//
// Benchmarks repeat one kernel on an idle, cool machine with warm caches. In a training step the
// power cap lowers the clock, caches and memory hold the data of other kernels, every kernel waits
// for the one before it, networks are shared, and the step ends when its slowest rank does:
//
//   product rate   x matrix_share          sustained clock under a training load
//   memory rate    x memory_share          achieved bandwidth of kernels between products
//   kernel time    + kernel_gap            from the end of one kernel to the start of the next
//   attention rate x share of its kernel   published at few shapes; draws less power than products
//   level bandwidth x share of its kind    scale-up links; network technology; collectives only:
//                                          a transfer between two ranks waits for no other rank
//   computing      x (1 + s E[max of N])   s: spread of the speed of ranks, N: ranks
//
// E[max of N] is the expected largest of N independent standard normal draws (0, 0.56, 1.42, 3.24,
// 4.1 for 1, 2, 8, 1024, 32768): a synchronous step runs at the pace of its slowest rank (Fisher
// and Tippett 1928; PRISM, arXiv 2510.15596, for training).
//
// Shares belong to hardware (an accelerator, an architecture, a network technology) or to an
// attention kernel, never to a source of measurements. `orrery calibrate` fits them to
// validation/measured and draws each towards the share of its architecture, and these towards that
// of all hardware of its kind; an accelerator without measured steps gets the former or, where none
// of its architecture was measured, the latter. Networks whose messages are handled by the
// processors of hosts and those whose adapters handle them are different kinds. Source, date and
// errors: catalog/step/training.yaml. Not modelled: drift over a run, failures, ranks that are
// permanently slow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "cost/kernel/kernel_parameters.h"
#include "document/fields.h"
#include "units/quantity.h"

namespace orrery {

// One accelerator under a training load.
struct AcceleratorConditions {
  std::string accelerator;   // catalog name; "*": every other one of the architecture
  std::string architecture;  // empty beside "*": every other accelerator
  double matrix_share = 1;   // (0, 2]: above 1 where benchmarks were slower than training
  double memory_share = 1;
  double scale_up_share = 1;
  double rows = 0;  // measured steps it was fitted to; 0: taken from other hardware
  bool operator==(const AcceleratorConditions&) const = default;
};

// A fused attention kernel, as compiled for one architecture, in a training step.
struct AttentionConditions {
  AttentionKernel kernel = AttentionKernel::library;
  std::string architecture;  // "*": every other one
  double share = 1;          // (0, 2], of the rate its authors measured
  double rows = 0;
  bool operator==(const AttentionConditions&) const = default;
};

// A network technology in use by a whole job.
struct NetworkConditions {
  // technology_of() a level, such as "infiniband"; kCarriedByHost: every other one for which
  // carried_by_host(); "*": every other one.
  std::string technology;
  double share = 1;  // of what a collective alone reaches
  double rows = 0;
  bool operator==(const NetworkConditions&) const = default;
};

inline constexpr std::string_view kCarriedByHost = "carried by hosts";

// Whether the processors of a host, rather than its adapter, send and acknowledge the messages of
// this technology: Omni-Path 100, whose host software sends and receives (Birrittella et al., Hot
// Interconnects 2015), and TCP over Ethernet (with GPUDirect-TCPX the adapter places the payload,
// but the host runs the protocol). Two of them were measured: omni-path and tcpx.
bool carried_by_host(std::string_view technology);

// The file catalog/step/training.yaml.
struct TrainingConditions {
  std::string source;
  FitRecord fit;
  Seconds kernel_gap;
  double rank_spread = 0;  // s
  std::vector<AcceleratorConditions> accelerators;
  std::vector<AttentionConditions> attention;  // the share is 1 for kernels without an entry
  std::vector<NetworkConditions> networks;
  bool operator==(const TrainingConditions&) const = default;
};

Fields<AcceleratorConditions> fields_of(const AcceleratorConditions*);
Fields<AttentionConditions> fields_of(const AttentionConditions*);
Fields<NetworkConditions> fields_of(const NetworkConditions*);
Fields<TrainingConditions> fields_of(const TrainingConditions*);

// Errors: those of read(); shares outside (0, 2]; a gap above 1 ms or a spread above 0.2; no
// entry for every other accelerator ("*" without an architecture) or network ("*").
Result<TrainingConditions> read_training_conditions(const Document& document);
Result<TrainingConditions> load_training_conditions(const Catalog& catalog);

// The entry used for this accelerator: its own, otherwise that of every other one of its
// architecture, otherwise that of every other one.
const AcceleratorConditions& conditions_of(const TrainingConditions& conditions,
                                           const Accelerator& accelerator);
const NetworkConditions& network_of(const TrainingConditions& conditions, const FabricLevel& level);

// The share of this kernel on this architecture: its own entry, otherwise the kernel's "*",
// otherwise 1.
double attention_share(const TrainingConditions& conditions, AttentionKernel kernel,
                       std::string_view architecture);

// Expected largest of n independent standard normal draws, n >= 1; within 1e-6.
double expected_maximum(double n);

// Kernels and fabric levels with the conditions of a training step on all ranks of the cluster.
KernelParameters under_training(KernelParameters kernels, const TrainingConditions& conditions,
                                const Cluster& cluster);
std::vector<FabricLevel> under_training(std::vector<FabricLevel> levels,
                                        const TrainingConditions& conditions,
                                        const Cluster& cluster);

// Sentences that say which shares were taken from other hardware.
std::vector<std::string> assumed_conditions(const TrainingConditions& conditions,
                                            const Cluster& cluster);

}  // namespace orrery
