#include "analyze/recorded_accelerator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {
namespace {

// "NVIDIA A100-SXM4-80GB" -> nvidia, a100, sxm4, 80gb.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) {
      word += lower;
    } else if (!word.empty()) {
      out.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Boards of one chip with other clocks and links; what names none is a module of a server.
bool of_one_form(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  constexpr std::array<std::string_view, 2> kForms = {"pcie", "nvl"};
  return std::ranges::all_of(kForms,
                             [&](std::string_view form) { return has(a, form) == has(b, form); });
}

// Zero where entry and device agree on the size of the memory, as the device has it or, where it
// was not recorded, as its name says ("80gb").
double memory_distance(const Accelerator& entry, const std::vector<std::string>& parts,
                       const RecordedDevice& device, const std::vector<std::string>& words) {
  if (device.memory_bytes > 0) {
    return std::abs(entry.memory.capacity.value() / static_cast<double>(device.memory_bytes) - 1);
  }
  return std::ranges::any_of(
             parts,
             [&](const std::string& part) { return part.ends_with("gb") && has(words, part); })
             ? 0
             : 1;
}

bool is_part(const RecordedDevice& device, const Accelerator& whole) {
  constexpr double kLeastShare = 0.75;
  return device.multiprocessors > 0 &&
         device.multiprocessors < kLeastShare * static_cast<double>(whole.compute_units);
}

}  // namespace

const RecordedDevice* recorded_device(const RecordedTrace& trace) {
  for (const Lane& lane : trace.lanes) {
    if (lane.device && lane.process >= 0 &&
        lane.process < static_cast<std::int64_t>(trace.devices.size())) {
      return &trace.devices[static_cast<std::size_t>(lane.process)];
    }
  }
  return trace.devices.empty() ? nullptr : &trace.devices.front();
}

std::optional<Accelerator> recorded_accelerator(const Catalog& catalog,
                                                const RecordedDevice& device) {
  const std::vector<std::string> words = words_of(device.name);
  std::optional<Accelerator> best;
  double best_distance = 0;
  for (const std::string& entry : catalog.names("accelerators")) {
    const std::vector<std::string> parts = words_of(entry);
    // The model is the first part of the entry: "h100" of "h100-pcie", "rtx" of "rtx-4090".
    if (parts.empty() || !has(words, parts[0])) continue;
    if (parts[0] == "rtx" && (parts.size() < 2 || !has(words, parts[1]))) continue;
    if (!of_one_form(parts, words)) continue;
    auto accelerator = load_accelerator(catalog, entry);
    if (!accelerator || is_part(device, *accelerator)) continue;
    const double distance = memory_distance(*accelerator, parts, device, words);
    if (!best || distance < best_distance) {
      best = std::move(*accelerator);
      best_distance = distance;
    }
  }
  return best;
}

std::optional<Accelerator> recorded_accelerator(const Catalog& catalog,
                                                const RecordedTrace& trace) {
  const RecordedDevice* device = recorded_device(trace);
  return device == nullptr ? std::nullopt : recorded_accelerator(catalog, *device);
}

}  // namespace orrery
