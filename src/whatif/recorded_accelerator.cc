#include "whatif/recorded_accelerator.h"

#include <algorithm>
#include <cmath>
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
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_pcie(const std::vector<std::string>& words) { return has(words, "pcie"); }

}  // namespace

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
    if (is_pcie(parts) != is_pcie(words)) continue;
    auto accelerator = load_accelerator(catalog, entry);
    if (!accelerator) continue;
    const double memory = accelerator->memory.capacity.value();
    const double distance = device.memory_bytes > 0
                                ? std::abs(memory / static_cast<double>(device.memory_bytes) - 1)
                                : 0;
    if (!best || distance < best_distance) {
      best = std::move(*accelerator);
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace orrery
