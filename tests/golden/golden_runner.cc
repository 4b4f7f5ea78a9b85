// golden_runner [--bless] --bin FOLDER --root REPOSITORY FILE...: runs the commands of golden
// scripts (script.h) and compares what they print; with --bless, writes what they print.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "golden/comparison.h"
#include "golden/sandbox.h"
#include "golden/script.h"

namespace orrery::golden {
namespace {

struct Options {
  bool bless = false;
  std::filesystem::path bin;
  std::filesystem::path root;
  std::vector<std::string> files;
};

// The number of failed steps of one file.
int run_file(const Options& options, const std::string& file) {
  std::ostringstream text;
  std::ifstream in(file, std::ios::binary);
  text << in.rdbuf();
  if (!in) {
    std::cerr << file << ": cannot be read\n";
    return 1;
  }
  Script script = parse_script(text.str(), file.ends_with(".test") ? Kind::test : Kind::page);
  if (script.steps.empty()) {
    std::cout << file << ": no commands\n";
    return file.ends_with(".test") ? 1 : 0;
  }
  const Sandbox sandbox(options.root, options.bin);
  int failed = 0;
  std::vector<std::pair<const Step*, std::vector<std::string>>> changes;
  for (const Step& step : script.steps) {
    const Outcome outcome = sandbox.run(step.command);
    const auto difference =
        step.any_output ? std::nullopt : first_difference(step.expected, outcome.printed);
    if (!difference && outcome.exit_code == step.exit_code) continue;
    if (options.bless) {
      const auto printed = step.any_output ? std::vector<std::string>{} : outcome.printed;
      changes.emplace_back(&step, blessed(step, printed, outcome.exit_code));
      continue;
    }
    ++failed;
    std::cout << file << ":" << step.line << ": $ " << step.command << "\n";
    if (outcome.exit_code != step.exit_code) {
      std::cout << "  exit code " << outcome.exit_code << " instead of " << step.exit_code << "\n";
    }
    if (difference) {
      std::cout << show_difference(step.expected, outcome.printed, *difference);
    } else if (step.any_output) {
      std::cout << show_difference({}, outcome.printed, {});
    }
  }
  // From the last to the first, so that earlier positions stay true.
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    auto& lines = script.lines;
    const auto& [step, text_of_step] = *change;
    const auto first = lines.begin() + static_cast<std::ptrdiff_t>(step->first_line);
    const auto after = lines.begin() + static_cast<std::ptrdiff_t>(step->after_line);
    lines.insert(lines.erase(first, after), text_of_step.begin(), text_of_step.end());
  }
  if (!changes.empty()) {
    std::ofstream out(file, std::ios::binary);
    for (const std::string& line : script.lines) out << line << "\n";
    std::cout << file << ": " << changes.size() << " outcomes accepted\n";
  } else {
    std::cout << file << ": " << script.steps.size() << " commands, " << failed << " failed\n";
  }
  return failed;
}

}  // namespace
}  // namespace orrery::golden

int main(int argc, char** argv) {
  orrery::golden::Options options;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--bless") {
      options.bless = true;
    } else if (words[i] == "--bin" && i + 1 < words.size()) {
      options.bin = words[++i];
    } else if (words[i] == "--root" && i + 1 < words.size()) {
      options.root = words[++i];
    } else {
      options.files.push_back(words[i]);
    }
  }
  if (options.bin.empty() || options.root.empty() || options.files.empty()) {
    std::cerr << "usage: golden_runner [--bless] --bin FOLDER --root REPOSITORY FILE...\n";
    return 2;
  }
  int failed = 0;
  for (const std::string& file : options.files) failed += orrery::golden::run_file(options, file);
  return failed == 0 ? 0 : 1;
}
