#include "parse_error.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "command_documents.h"
#include "outcome/nearest_name.h"

namespace orrery::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& level) {
  std::vector<std::string> known;
  for (const CLI::App* command : commands_within(level)) known.push_back(command->get_name());
  return known;
}

// The words of the command line against the commands there are.
struct TypedCommand {
  const CLI::App* app;  // the deepest that is known
  std::string unknown;  // the first word that should be a command of `app` and is none
};

TypedCommand typed_command(const CLI::App& app, std::span<char*> words) {
  TypedCommand out{&app, ""};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string> known = commands_of(*out.app);
    if (known.empty()) break;
    const std::string word = words[i];
    if (word.starts_with('-')) {
      const CLI::Option* option = out.app->get_option_no_throw(word);
      if (option == nullptr) option = app.get_option_no_throw(word);
      if (option != nullptr && option->get_expected_min() > 0) ++i;  // its value
    } else if (std::ranges::find(known, word) == known.end()) {
      out.unknown = word;
      break;
    } else {
      out.app = out.app->get_subcommand(word);
    }
  }
  return out;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : all_options(app)) {
    std::ranges::move(names_of(*option), std::back_inserter(out));
  }
  return out;
}

}  // namespace

Error parse_error(const CLI::App& app, const CLI::ParseError& parsed, std::span<char*> words) {
  const auto [command, unknown] = typed_command(app, words);
  const std::vector<std::string> known = commands_of(*command);
  const std::string help = full_name(*command) + " --help";
  if (!unknown.empty()) {
    return {ErrorCode::bad_input, "unknown command '" + unknown + "'", "",
            unknown == "help" ? "write " + help : name_hint(unknown, known)};
  }
  if (!known.empty()) {
    return {ErrorCode::bad_input, command->get_name() + " needs a command", "",
            name_hint("", known)};
  }
  const std::vector<std::string> left = app.remaining(true);
  const auto extra = std::ranges::find_if(
      words, [&](const char* word) { return std::ranges::find(left, word) != left.end(); });
  if (extra != words.end()) {
    const std::string word = *extra;
    const std::string option = word.substr(0, word.find('='));
    if (word.starts_with('-')) {
      const auto near = nearest_name(option, options_of(*command));
      return {ErrorCode::bad_input, command->get_name() + " has no option " + option, "",
              near ? "did you mean " + *near + "?" : "see " + help};
    }
    const bool plans = command->get_option_no_throw("--plan") != nullptr;
    return {ErrorCode::bad_input, command->get_name() + " does not expect '" + word + "'", "",
            !plans                                ? "see " + help
            : word.find('=') != std::string::npos ? "settings of a plan follow --plan"
                                                  : "a cluster follows --on; see " + help};
  }
  std::string what = parsed.what();
  if (const auto* mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&parsed);
      mismatch != nullptr) {
    const std::string option = what.substr(0, what.find(':'));
    what = option + (what.ends_with("missing") ? " needs a value" : " is given more than once");
  }
  return {ErrorCode::bad_input, what, "", "see " + help};
}

bool all_commands_known(const CLI::App& app, std::span<char*> words) {
  return typed_command(app, words).unknown.empty();
}

}  // namespace orrery::cli
