// How much memory an input may take, so that a small file cannot exhaust it:
//
//   held <= input_memory() + kMemoryPerByte * read
//
//   held            bytes of memory, as its reader counts them before it takes them
//   read            bytes of the file so far, packed if the file is
//   kMemoryPerByte  more than files of any real program take: 20 bytes of text in a byte of gzip,
//                   6 bytes of memory for each (docs/benchmarks.md, "Memory that inputs take")
//
// Every reader asks here; --max-input sets input_memory(). Left out: what is made of an input after
// it was read, such as the graph of a recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "outcome/result.h"

namespace orrery {

inline constexpr std::uint64_t kDefaultInputMemory = std::uint64_t{1} << 30U;
inline constexpr std::uint64_t kMemoryPerByte = 128;

// Set once, by the command line.
std::atomic<std::uint64_t>& input_memory();

// Error: `held` is more than an input may hold of which `read` bytes were read.
Result<void> check_input_memory(std::uint64_t held, std::uint64_t read, const std::string& where);

// How many bytes a text may have that is held whole, if `usual` is the most with the usual memory.
std::uint64_t most_bytes_of_text(std::uint64_t usual);
// What its refusals say to write instead.
std::string more_input_memory();

}  // namespace orrery
