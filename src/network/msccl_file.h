// What an algorithm file of MSCCL says, element by element (network/msccl.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/operation.h"
#include "outcome/enum_names.h"
#include "outcome/result.h"

namespace orrery {

// As the file writes them.
enum class MscclStepType : std::uint8_t { nop, s, r, rcs, rrs, rrc, rrcs, cpy, re };
enum class MscclBuffer : std::uint8_t { i, o, s };

struct MscclStep {
  MscclStepType type = MscclStepType::nop;
  MscclBuffer source = MscclBuffer::i, target = MscclBuffer::o;
  std::int64_t source_chunk = 0, target_chunk = 0;
  std::int64_t chunks = 0;
  std::int64_t waits_block = -1, waits_step = -1;  // of the same GPU; -1: for none
  std::uint64_t line = 0;
};

struct MscclBlock {
  std::int64_t send = -1, receive = -1;  // GPUs; -1: none
  std::int64_t channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  std::int64_t chunks[3] = {0, 0, 0};  // by MscclBuffer
  std::vector<MscclBlock> blocks;
};

struct MscclFile {
  CollectiveKind kind = CollectiveKind::all_reduce;
  bool in_place = false;
  std::int64_t chunks = 0;  // of the larger of input and output
  std::vector<MscclGpu> gpus;
};

inline constexpr std::size_t kMostMscclBlocks = 65'536;  // of all GPUs
inline constexpr std::size_t kMostMscclSteps = 200'000;
inline constexpr std::int64_t kMostMscclChunks = 65'536;  // of one buffer

// Errors: those of network/msccl.h that need no run.
Result<MscclFile> parse_msccl(std::string_view text, const std::string& where);

}  // namespace orrery
