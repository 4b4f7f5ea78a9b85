#include "command_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "command.h"
#include "version.h"

namespace orrery::cli {
namespace {

void for_each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& f) {
  f(app);
  for (const CLI::App* command : commands_within(app)) for_each_command(*command, f);
}

bool takes_a_value(const CLI::Option& option) { return option.get_expected_min() > 0; }

// The kinds of the catalog whose entries are values of an option or a positional.
std::vector<std::string> names_for(const std::string& what) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> kKinds = {
      {"model", {"models"}},
      {"models", {"models"}},
      {"--on", {"accelerators", "clusters"}},
      {"--software", {"software"}},
      {"--price", {"prices"}},
      {"--failures", {"failures"}},
      {"--restart", {"restarts"}},
      {"--law", {"scaling-laws"}},
      {"--variability", {"variability"}}};
  std::vector<std::string> out;
  for (const auto& [known, kinds] : kKinds) {
    if (known != what) continue;
    for (const std::string& kind : kinds) {
      for (std::string& name : Catalog::built_in().names(kind)) out.push_back(std::move(name));
    }
  }
  return what == "kind" ? Catalog::built_in().kinds() : out;
}

// Text of a manual page: nothing in it is a command of the formatter.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '-') {
      out += "\\-";
    } else if (text[i] == '\\') {
      out += "\\e";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string hyphenated(const CLI::App& app) {
  std::string out = full_name(app);
  std::ranges::replace(out, ' ', '-');
  return out;
}

std::string manual_page(const CLI::App& app) {
  const std::string name = hyphenated(app);
  std::string title = name;
  for (char& c : title) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  std::string positionals;
  std::string arguments;
  std::string options;
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::string shown = positional ? option->get_name(true) : option->get_name(false, true);
    if (positional) positionals += option->get_required() ? shown + " " : "[" + shown + "] ";
    (positional ? arguments : options) +=
        fmt::format(".TP\n.B {}{}\n{}\n", roff(shown),
                    !positional && takes_a_value(*option) ? " \\fIVALUE\\fR" : "",
                    roff(option->get_description()));
  }
  std::string commands;
  for (const CLI::App* inner : commands_within(app)) {
    commands += fmt::format(".TP\n.B {}\n{}; see {}(1)\n", roff(inner->get_name()),
                            roff(inner->get_description()), roff(hyphenated(*inner)));
  }
  const std::string described = app.get_description();
  std::string out = fmt::format(
      ".TH {} 1 \"\" \"{}\" \"Orrery\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n{}[options]\n",
      roff(title), roff(version_text()), roff(name), roff(described), roff(full_name(app)),
      commands.empty() ? roff(positionals) : "command ");
  const auto add = [&](std::string_view heading, const std::string& text) {
    if (!text.empty()) out += fmt::format(".SH {}\n{}", heading, text);
  };
  add("COMMANDS", commands);
  add("ARGUMENTS", arguments);
  add("OPTIONS", options);
  if (!app.get_footer().empty()) add("NOTES", ".nf\n" + roff(app.get_footer()) + "\n.fi\n");
  if (app.get_parent() != nullptr) {
    add("SEE ALSO", "orrery(1), which has the options of every command\n");
    return out;
  }
  add("ENVIRONMENT",
      ".TP\n.B ORRERY_CATALOG\nwithout \\-\\-catalog: a directory of entries over those of the "
      "built\\-in catalog; empty: none\n.TP\n.B XDG_CONFIG_HOME\nwithout either, "
      "orrery/catalog in it, or ~/.config/orrery/catalog, if it exists\n.TP\n.B NO_COLOR, "
      "CLICOLOR_FORCE, COLUMNS\nhow text is shown\n");
  add("EXIT STATUS",
      ".TP\n0\nan answer\n.TP\n1\na negative answer: nothing fits\n.TP\n2\nbad input\n.TP\n70\na "
      "bug in orrery\n.TP\n71\nmemory or threads that the machine refuses\n");
  return out;
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<const CLI::App*> commands_within(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> all_options(const CLI::App& app) {
  std::vector<const CLI::Option*> out;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      if (!option->get_lnames().empty() || !option->get_snames().empty()) out.push_back(option);
    }
  }
  return out;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_lnames().empty()) return {"-" + option.get_snames().front()};
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string completions(const CLI::App& app, std::span<char*> words) {
  const CLI::App* command = &app;
  for (const char* word : words) {
    for (const CLI::App* inner : commands_within(*command)) {
      if (inner->get_name() == word) command = inner;
    }
  }
  std::string out;
  const auto add = [&](std::string_view word, std::string_view sentence = "") {
    out += fmt::format("{}\t{}\n", word, sentence);
  };
  const std::vector<std::string> values = names_for(words.empty() ? "" : words.back());
  for (const std::string& name : values) add(name);
  if (!values.empty()) return out;
  for (const CLI::Option* option : command->get_options()) {
    if (!option->get_positional()) continue;
    for (const std::string& name : names_for(option->get_name(true))) add(name);
    break;
  }
  for (const CLI::App* inner : commands_within(*command)) {
    add(inner->get_name(), inner->get_description());
  }
  for (const CLI::Option* option : all_options(*command)) {
    for (const std::string& name : names_of(*option)) add(name, option->get_description());
  }
  return out;
}

// The scripts ask the command that was typed, which may begin with ~/ and need not be on the path.
Result<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") {
    return R"bash(# Completion of orrery for bash.
_orrery() {
  local IFS=$'\n'
  local typed="${1/#\~\//$HOME/}"
  COMPREPLY=($(compgen -W "$("$typed" --complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null |
    cut -f1)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _orrery orrery
)bash";
  }
  if (shell == "zsh") {
    return R"zsh(#compdef orrery
_orrery() {
  local -a found
  found=("${(@f)$(${~words[1]} --complete "${(@)words[2,CURRENT-1]}" 2>/dev/null | tr '\t' ':')}")
  _describe orrery found || _files
}
if [ "$funcstack[1]" = _orrery ]; then _orrery "$@"; else compdef _orrery orrery; fi
)zsh";
  }
  if (shell == "fish") {
    return R"fish(# Completion of orrery for fish.
function __orrery_complete
  set -l words (commandline -opc | string replace -r '^~/' ~/)
  $words[1] --complete $words[2..-1] 2>/dev/null
end
complete -c orrery -a '(__orrery_complete)'
)fish";
  }
  return bad_input("no completion for '" + std::string(shell) + "'", "--completion",
                   "write bash, zsh or fish");
}

Result<void> write_manual_pages(const CLI::App& app, const std::string& folder) {
  if (folder.empty()) return bad_input("no folder is given", "--manual", "write a folder");
  ORRERY_RETURN_IF_ERROR(make_folder(folder));
  Result<void> done;
  for_each_command(app, [&](const CLI::App& command) {
    const auto file = std::filesystem::path(folder) / (hyphenated(command) + ".1");
    if (done) done = write_file(file.string(), manual_page(command));
  });
  return done;
}

}  // namespace orrery::cli
