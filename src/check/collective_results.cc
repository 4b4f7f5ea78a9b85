#include "check/collective_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "outcome/parsed_number.h"

namespace orrery {
namespace {

struct TestProgram {
  std::string_view name;  // without _perf
  CollectiveKind kind;
};
constexpr std::array kTestPrograms = {
    TestProgram{"all_reduce", CollectiveKind::all_reduce},
    TestProgram{"all_gather", CollectiveKind::all_gather},
    TestProgram{"reduce_scatter", CollectiveKind::reduce_scatter},
    TestProgram{"alltoall", CollectiveKind::all_to_all},
    TestProgram{"broadcast", CollectiveKind::broadcast},
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < line.size();) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Without "[1,0]<stdout>:" of mpirun, or "0:" of srun.
std::string_view without_tag(std::string_view line) {
  const std::size_t tag = line.find(">:");
  if (line.starts_with('[') && tag != std::string_view::npos) return line.substr(tag + 2);
  const std::size_t colon = line.find(':');
  const std::size_t first = line.find_first_not_of(' ');
  if (colon != std::string_view::npos && first < colon &&
      digits(line.substr(first, colon - first))) {
    return line.substr(colon + 1);
  }
  return line;
}

// Reads line by line; a line of titles ends one test and begins the next.
class ResultsReader {
 public:
  ResultsReader(const std::string& name, std::optional<CollectiveKind> stated)
      : name_(name), stated_(stated) {}

  Result<void> line(std::string_view text) {
    ++line_;
    const std::vector<std::string_view> words = words_of(without_tag(text));
    if (words.empty()) return {};
    ORRERY_RETURN_IF_ERROR(note_program(words));
    if (!words.front().starts_with('#')) {
      return digits(words.front()) && !titles_.empty() ? row(words) : Result<void>{};
    }
    note_rank(words);
    if (words.size() > 3 && words[1] == "size" && words[2] == "count") {
      titles_.assign(words.begin() + 1, words.end());
      out_.push_back({.ranks = static_cast<std::int64_t>(ranks_.size()),
                      .nodes = static_cast<std::int64_t>(hosts_.size())});
      known_.push_back(program_);
      program_.reset();
      ranks_.clear();
      hosts_.clear();
    }
    return {};
  }

  Result<std::vector<CollectiveResults>> done() && {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      CollectiveResults& test = out_[i];
      if (test.sizes.empty()) return bad_input("a test without any size", name_);
      const auto kind = known_[i] ? known_[i] : stated_;
      if (stated_ && kind != stated_) {
        return bad_input(fmt::format("{} was measured", to_text(*kind)), "--collective",
                         "leave it out, for the text says it");
      }
      if (!kind) {
        return bad_input("the text does not say which collective was measured", name_,
                         "write --collective all_reduce, or keep the line \"# Collective test "
                         "starting\"");
      }
      test.kind = *kind;
    }
    if (out_.empty()) {
      return bad_input("no results of nccl-tests: there is no line \"# size count type ...\"",
                       name_, "give what all_reduce_perf prints, with its comments");
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", name_, line_); }

  // "# Collective test starting: all_reduce_perf", or a command line with the program in it.
  Result<void> note_program(const std::vector<std::string_view>& words) {
    if (std::ranges::find(words, "concluded:") != words.end()) return {};
    for (const std::string_view word : words) {
      if (!word.ends_with("_perf")) continue;
      std::string_view program = word.substr(word.rfind('/') + 1);
      program.remove_suffix(5);
      const auto known = std::ranges::find(kTestPrograms, program, &TestProgram::name);
      if (known == kTestPrograms.end()) {
        return unsupported(fmt::format("'{}' is not checked", word), place(),
                           "all_reduce, all_gather, reduce_scatter, alltoall and broadcast are");
      }
      program_ = known->kind;
    }
    return {};
  }

  // "# Rank 0 Group 0 Pid 1234 on host device 0 ..."
  void note_rank(const std::vector<std::string_view>& words) {
    const auto on = std::ranges::find(words, "on");
    if (words.size() < 4 || words[1] != "Rank" || on >= words.end() - 1) return;
    ranks_.emplace(words[2]);
    hosts_.emplace(*(on + 1));
  }

  Result<void> row(const std::vector<std::string_view>& words) {
    if (words.size() != titles_.size()) {
      return bad_input(
          fmt::format("a row of {} columns where the titles name {}", words.size(), titles_.size()),
          place(), "give the rows as they were printed");
    }
    MeasuredSize size{.line = line_};
    std::vector<Seconds> times;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto bad = [&](std::string_view wanted) {
        return bad_input(fmt::format("'{}' is not {}", words[i], wanted), place());
      };
      if (titles_[i] == "size") {
        const auto bytes = parsed_number<std::uint64_t>(words[i]);
        if (!bytes || *bytes > 1'000'000'000'000'000) return bad("a size in bytes");
        size.payload = Bytes(static_cast<double>(*bytes));
      } else if (titles_[i] == "time") {
        const auto us = parsed_number<double>(words[i]);
        if (!us || !(*us >= 0 && *us <= 1e12)) return bad("a time in microseconds");
        times.emplace_back(*us * 1e-6);
      } else if (titles_[i] == "#wrong" && words[i] != "N/A") {
        const auto wrong = parsed_number<std::int32_t>(words[i]);
        if (!wrong || *wrong < 0) return bad("a number of wrong elements");
        size.wrong += *wrong;
      }
    }
    if (times.empty()) return bad_input("the titles name no time", place());
    size.time = times.front();
    if (times.size() > 1) size.in_place = times[1];
    // A rank with fewer elements than ranks has nothing to send.
    if (size.payload <= Bytes(0)) return {};
    if (size.time <= Seconds(0)) return bad_input("a time of 0", place());
    if (out_.back().sizes.size() == kMostMeasuredSizes) {
      return bad_input(fmt::format("more than {} sizes", kMostMeasuredSizes), place());
    }
    out_.back().sizes.push_back(size);
    return {};
  }

  const std::string& name_;
  std::optional<CollectiveKind> stated_;
  std::size_t line_ = 0;
  std::vector<std::string> titles_;
  std::optional<CollectiveKind> program_;  // of the next test
  std::set<std::string, std::less<>> ranks_, hosts_;
  std::vector<CollectiveResults> out_;
  std::vector<std::optional<CollectiveKind>> known_;
};

}  // namespace

Result<std::vector<CollectiveResults>> parse_collective_results(
    std::string_view text, const std::string& name, std::optional<CollectiveKind> stated) {
  ResultsReader reader(name, stated);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ORRERY_RETURN_IF_ERROR(reader.line(text.substr(at, end - at)));
    at = end + 1;
  }
  return std::move(reader).done();
}

}  // namespace orrery
