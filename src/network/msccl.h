// Algorithm files of MSCCL: a collective as steps of the thread blocks of every GPU.
//
//   <algo name="..." coll="allreduce" ngpus="8" nchunksperloop="8" inplace="1" ...>
//     <gpu id="0" i_chunks="8" o_chunks="8" s_chunks="8">
//       <tb id="0" send="1" recv="7" chan="0">
//         <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"
//               depid="-1" deps="-1" hasdep="0"/>
//
// Steps of a thread block follow one another; a step may wait for one of another block of its GPU
// (depid, deps). Sends and receives of one channel between two GPUs meet in their order. Types: s,
// r, rcs (receive, store, send on), rrs (receive, add, send on), rrc (receive, add, store), rrcs
// (and send on), cpy, re (add), nop. Source of the format: microsoft/msccl-tools,
// msccl/language/ir.py (ir_to_xml); Cowan et al., ASPLOS 2023 (arXiv 2201.11840).
//
// The file is run on sets of contributions: refused, with the first rank and chunk that are wrong,
// unless every rank ends with what the collective promises. Then each message becomes a round of a
// program (network/program.h) that begins when those it waits for have arrived. With inplace="1"
// the smaller of input and output is its rank's part of the larger one.
//
// Not modelled: steps of different thread blocks that race for a chunk, of which one order is run;
// the limited number of messages under way on a channel; the time of local copies and additions;
// the loops in which a library passes a large payload, which is taken as one.
#pragma once

#include <string>
#include <string_view>

#include "network/program.h"

namespace orrery {

// Its rounds carry as many of the `parts` of the data as the messages do; which ones is checked
// here. `where`: the file, for messages. Errors, with the line: no XML; an element or a value that
// the format does not have; a collective other than all-reduce, all-gather, reduce-scatter and
// all-to-all; a chunk outside its buffer; steps that wait for each other for ever; a message that
// nobody receives; a result that is not the collective; more than kMostVerifiedRanks GPUs, or a
// file that is too large to be run.
Result<Program> read_msccl(std::string_view text, const std::string& where);

}  // namespace orrery
