#include "command_documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::vector<const CLI::App*> commands_within(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void for_each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& f) {
  f(app);
  for (const CLI::App* command : commands_within(app)) for_each_command(*command, f);
}

// The words after "orrery".
std::string path_of(const CLI::App& app) {
  const std::string name = full_name(app);
  return app.get_parent() == nullptr ? "" : name.substr(name.find(' ') + 1);
}

// The options of a command and those of every command.
std::vector<const CLI::Option*> all_options(const CLI::App& app) {
  std::vector<const CLI::Option*> out;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      if (!option->get_lnames().empty() || !option->get_snames().empty()) out.push_back(option);
    }
  }
  return out;
}

std::string dashed(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front()
                                     : "--" + option.get_lnames().front();
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

// What may follow a command: commands, names for its first positional, options.
struct Words {
  std::vector<const CLI::App*> commands;
  std::vector<std::string> names;
  std::vector<const CLI::Option*> options;
};
Words words_after(const CLI::App& app) {
  Words out{commands_within(app), {}, all_options(app)};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    out.names = names_for(option->get_name(true));
    break;
  }
  return out;
}

// Options whose values are names of the catalog, with these names; each once.
std::vector<std::pair<std::string, std::vector<std::string>>> options_with_names(
    const CLI::App& app) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for_each_command(app, [&](const CLI::App& command) {
    for (const CLI::Option* option : all_options(command)) {
      const std::string name = dashed(*option);
      std::vector<std::string> values = names_for(name);
      const bool known = std::ranges::any_of(out, [&](const auto& o) { return o.first == name; });
      if (!values.empty() && !known) out.emplace_back(name, std::move(values));
    }
  });
  return out;
}

// Commands as the patterns of a case: each with the command before it.
std::vector<std::string> patterns_of(const CLI::App& app) {
  std::vector<std::string> out;
  for_each_command(app, [&](const CLI::App& command) {
    if (command.get_parent() != nullptr) {
      out.push_back(path_of(*command.get_parent()) + " " + command.get_name());
    }
  });
  return out;
}

// In single quotes of a shell.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}
std::vector<std::string> all_in_quotes(std::vector<std::string> texts) {
  for (std::string& text : texts) text = in_quotes(text);
  return texts;
}

// bash and zsh find the command in the same way; `words` are those before the cursor.
std::string find_command(const CLI::App& app, std::string_view words) {
  return fmt::format(
      "  local at= word\n  for word in {}; do\n    case \"$at $word\" in\n      {}) "
      "at=\"${{at:+$at }}$word\" ;;\n    esac\n  done\n",
      words, fmt::join(all_in_quotes(patterns_of(app)), "|"));
}

std::string bash_script(const CLI::App& app) {
  std::string out =
      "# Completion of orrery for bash.\n_orrery() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" "
      "before=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\n" +
      find_command(app, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"") + "  case \"$before\" in\n";
  for (const auto& [option, values] : options_with_names(app)) {
    out += fmt::format("    {}) words={} ;;\n", option,
                       in_quotes(fmt::format("{}", fmt::join(values, " "))));
  }
  out += "    *) case \"$at\" in\n";
  for_each_command(app, [&](const CLI::App& command) {
    const Words words = words_after(command);
    std::vector<std::string> all = words.names;
    for (const CLI::App* inner : words.commands) all.push_back(inner->get_name());
    for (const CLI::Option* option : words.options) all.push_back(dashed(*option));
    out += fmt::format("      {}) words={} ;;\n", in_quotes(path_of(command)),
                       in_quotes(fmt::format("{}", fmt::join(all, " "))));
  });
  return out +
         "    esac ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
         "complete -o default -F _orrery orrery\n";
}

std::string zsh_script(const CLI::App& app) {
  std::string out = "#compdef orrery\n_orrery() {\n  local -a found\n" +
                    find_command(app, "${words[2,CURRENT-1]}") +
                    "  case \"$words[CURRENT-1]\" in\n";
  for (const auto& [option, values] : options_with_names(app)) {
    out += fmt::format("    {}) compadd -- {}; return ;;\n", option, fmt::join(values, " "));
  }
  out += "  esac\n  case \"$at\" in\n";
  for_each_command(app, [&](const CLI::App& command) {
    const Words words = words_after(command);
    std::vector<std::string> all = all_in_quotes(words.names);
    for (const CLI::App* inner : words.commands) {
      all.push_back(in_quotes(inner->get_name() + ":" + inner->get_description()));
    }
    for (const CLI::Option* option : words.options) {
      all.push_back(in_quotes(dashed(*option) + ":" + option->get_description()));
    }
    out += fmt::format("    {}) found=({}) ;;\n", in_quotes(path_of(command)), fmt::join(all, " "));
  });
  return out +
         "  esac\n  _describe orrery found || _files\n}\n"
         "if [ \"$funcstack[1]\" = _orrery ]; then _orrery \"$@\"; else compdef _orrery orrery; "
         "fi\n";
}

std::string fish_script(const CLI::App& app) {
  std::string out = fmt::format(
      "# Completion of orrery for fish.\nfunction __orrery_at\n  set -l at ''\n"
      "  for word in (commandline -opc)[2..-1]\n    switch \"$at $word\"\n      case {}\n"
      "        set at (string trim \"$at $word\")\n    end\n  end\n  test \"$at\" = "
      "\"$argv\"\nend\n",
      fmt::join(all_in_quotes(patterns_of(app)), " "));
  for_each_command(app, [&](const CLI::App& command) {
    const Words words = words_after(command);
    const std::string here =
        fmt::format("complete -c orrery -n {} ", in_quotes("__orrery_at " + path_of(command)));
    for (const CLI::App* inner : words.commands) {
      out += fmt::format("{}-f -a {} -d {}\n", here, inner->get_name(),
                         in_quotes(inner->get_description()));
    }
    if (!words.names.empty()) {
      out +=
          fmt::format("{}-a {}\n", here, in_quotes(fmt::format("{}", fmt::join(words.names, " "))));
    }
    for (const CLI::Option* option : words.options) {
      const std::string name = dashed(*option);
      const std::vector<std::string> values = names_for(name);
      out += fmt::format(
          "{}{} {} -d {}{}{}\n", here, name.starts_with("--") ? "-l" : "-s",
          name.substr(name.starts_with("--") ? 2 : 1), in_quotes(option->get_description()),
          takes_a_value(*option) ? " -r" : "",
          values.empty() ? "" : " -f -a " + in_quotes(fmt::format("{}", fmt::join(values, " "))));
    }
  });
  return out;
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

Result<std::string> completion_script(const CLI::App& app, std::string_view shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
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
