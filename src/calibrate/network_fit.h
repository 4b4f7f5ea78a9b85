// Fits the network of one machine to collectives and messages between its nodes.
//
// The equations are those of cost/collective/. The fitted parameters describe the fabric:
//
//   message.latency, .rate     t = base + latency + n / rate, of one message
//   ring.network.<protocol>    a step between nodes with LL and with Simple; trees keep NCCL's
//                              ratio
//   ring.node.simple           a step inside a node while a Simple ring waits for the network
//   low_latency                ceiling of LL between nodes
//
// without those of LL where the network does not deliver in order, so that the library takes Simple
// alone; or, where the switches of a node reduce, instead of these:
//
//   base                       of rings and trees, as a share of the catalog's
//   in_switch.step, .tree_network_step, .efficiency
//   tree.network.low_latency   a step between nodes with LL
//   low_latency
//   ring.network.simple        instead of both, where the network does not deliver in order
//
// and for either
//
//   rate of g ranks per node   total rate of the cards that serve g ranks of a node; how many cards
//                              they reach, and through which bus, depends on the machine
//
// Inside one domain without such switches: base and ring_share. With cross-validation every machine
// is also predicted without any fit, by the catalog's parameters and the levels of its datasheet.
//
// A node is a scale-up domain here, of one server or more. What is not listed remains as in one
// node (catalog/collectives/). LL128 is tried and left out if it makes the fit worse: between nodes
// a library allows it only where stores arrive in order. Folds are by payload: all shapes of one
// payload are held out together. No file is written, because the catalog names fabrics and the
// measured machine may not be one of them.
//
// Valid for groups that fill their nodes evenly. Deterministic. About a second for 200 rows.
#pragma once

#include "calibrate/calibration.h"

namespace orrery {

MeasurementKind network_measurement_kind();

}  // namespace orrery
