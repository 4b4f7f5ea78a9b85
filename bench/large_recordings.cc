// What commands take on recordings larger than anybody publishes (made_recording.h).
//
//   large_recordings DIRECTORY GIGABYTES...      of JSON; packed as gzip from 4 on
//
// Prints a table; the recordings are left in DIRECTORY, and made only if they are not there.
// Two trees of the text (RapidJSON, simdjson) are built beside files that are not packed: in
// memory as the parser leaves them, nothing read of them.
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/filereadstream.h>
#include <simdjson.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "made_recording.h"
#include "process_run.h"

namespace orrery {
namespace {

constexpr double kPackedFrom = 4;  // gigabytes

const std::vector<std::vector<std::string>> kCommands = {
    {"trace", "info"},   {"trace", "analyze", "--preset", "hta"}, {"trace", "analyze"},
    {"trace", "replay"}, {"trace", "whatif", "--no-stragglers"},
};

int rapidjson_tree(const std::string& file) {
  std::FILE* const in = std::fopen(file.c_str(), "rb");
  if (in == nullptr) return 1;
  std::vector<char> buffer(1U << 20U);
  rapidjson::FileReadStream stream(in, buffer.data(), buffer.size());
  rapidjson::Document document;
  document.ParseStream(stream);
  std::fclose(in);
  return document.HasParseError() ? 1 : 0;
}

int simdjson_tree(const std::string& file) {
  simdjson::dom::parser parser;
  return parser.load(file).error() == simdjson::SUCCESS ? 0 : 1;
}

void print(const std::string& what, const ProcessRun& run) {
  if (!run.ok) {
    fmt::print("  {:<36} failed\n", what);
    return;
  }
  fmt::print("  {:<36} {:8.1f} s {:8.1f} s {:8.0f} MB\n", what, run.processor_seconds,
             run.wall_seconds, run.peak_bytes / 1e6);
  std::fflush(stdout);
}

int measure(const std::string& folder, double gigabytes) {
  const bool packed = gigabytes >= kPackedFrom;
  const std::string file =
      fmt::format("{}/made-{}GB.pt.trace.json{}", folder, gigabytes, packed ? ".gz" : "");
  if (!std::filesystem::exists(file)) {
    const auto made = make_recording(file, static_cast<std::uint64_t>(gigabytes * 1e9));
    if (!made) {
      fmt::print(stderr, "large_recordings: {}\n", made.error().text());
      return 1;
    }
    fmt::print("{}: {:.2f} GB, {} entries, {} steps\n", file,
               static_cast<double>(made->bytes) / 1e9, made->entries, made->steps);
  }
  fmt::print("{:<38} {:>10} {:>10} {:>11}\n", file.substr(folder.size() + 1), "processor", "wall",
             "peak");
  for (const std::vector<std::string>& command : kCommands) {
    std::vector<std::string> words = {ORRERY_COMMAND};
    words.insert(words.end(), command.begin(), command.end());
    words.push_back(file);
    std::string name;
    for (const std::string& word : command) name += (name.empty() ? "" : " ") + word;
    print(name, run_command(words));
  }
  if (!packed) {
    print("RapidJSON's tree", run_apart([&] { return rapidjson_tree(file); }));
    print("simdjson's tree", run_apart([&] { return simdjson_tree(file); }));
  }
  return 0;
}

}  // namespace
}  // namespace orrery

int main(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: large_recordings DIRECTORY GIGABYTES...\n");
    return 2;
  }
  for (int i = 2; i < count; ++i) {
    char* end = nullptr;
    const double gigabytes = std::strtod(words[i], &end);
    if (*end != '\0' || !(gigabytes > 0) || gigabytes > 64) {
      fmt::print(stderr, "large_recordings: '{}' is no number of gigabytes up to 64\n", words[i]);
      return 2;
    }
    if (orrery::measure(words[1], gigabytes) != 0) return 1;
  }
  return 0;
}
