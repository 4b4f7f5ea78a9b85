#include "trace/kineto/lanes.h"

#include <limits>

#include "document/json_word.h"
#include "trace/kineto/number_text.h"

namespace orrery {
namespace {

constexpr std::uint32_t kWholeProcess = std::numeric_limits<std::uint32_t>::max();

}  // namespace

RowName row_name(std::string_view token, TextTable& texts) {
  if (token.empty()) return RowName{};
  if (token.front() == '[' || is_json_word(token))
    return RowName{integer_of(token).value_or(kNotRecorded), 0};
  if (token.front() == '"') token.remove_prefix(1);
  if (!token.empty() && token.back() == '"') token.remove_suffix(1);
  std::size_t digits = token.size();
  while (digits > 0 && is_digit(token[digits - 1])) --digits;
  if (digits > 0 && token[digits - 1] == '-') --digits;
  const std::string_view word = token.substr(0, digits);
  if (digits < token.size() && (word.empty() || word == "stream ")) {
    if (const auto number = integer_of(token.substr(digits))) return RowName{*number, 0};
  }
  return RowName{kNotRecorded, texts.intern(token)};
}

std::size_t Lanes::Hash::operator()(const Key& key) const {
  std::uint64_t hash = key.device ? 0x9e3779b97f4a7c15U : 0;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(key.process), static_cast<std::uint64_t>(key.thread),
        (std::uint64_t{key.process_text} << 32U) + key.thread_text}) {
    hash = (hash ^ part) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  }
  return hash;
}

std::uint32_t Lanes::find(bool device, RowName process, RowName thread) {
  const Key key{device, process.number, thread.number, process.text, thread.text};
  if (last_lane_ != kNoDetails && key == last_) return last_lane_;
  const auto [it, is_new] =
      lanes_.try_emplace(key, static_cast<std::uint32_t>(trace_.lanes.size()));
  if (is_new) {
    Lane lane;
    lane.device = device;
    lane.process = process.number;
    lane.thread = thread.number;
    lane.process_name = trace_.texts[process.text];
    lane.thread_name = trace_.texts[thread.text];
    trace_.lanes.push_back(std::move(lane));
  }
  last_ = key;
  last_lane_ = it->second;
  return last_lane_;
}

void Lanes::name_process(RowName process, std::string_view name) {
  names_[Key{false, process.number, 0, process.text, kWholeProcess}] = trace_.texts.intern(name);
}

void Lanes::name_thread(RowName process, RowName thread, std::string_view name) {
  names_[Key{false, process.number, thread.number, process.text, thread.text}] =
      trace_.texts.intern(name);
}

void Lanes::finish() {
  for (const auto& [key, index] : lanes_) {
    Lane& lane = trace_.lanes[index];
    Key wanted = key;
    wanted.device = false;  // the file names a stream as the thread of a process
    if (const auto it = names_.find(wanted); it != names_.end()) {
      lane.thread_name = trace_.texts[it->second];
      while (lane.thread_name.ends_with(' ')) lane.thread_name.pop_back();
    }
    wanted.thread = 0;
    wanted.thread_text = kWholeProcess;
    if (const auto it = names_.find(wanted); it != names_.end()) {
      lane.process_name = trace_.texts[it->second];
    }
  }
}

}  // namespace orrery
