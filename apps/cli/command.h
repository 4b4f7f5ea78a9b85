// What every subcommand shares: how it was called, what it is, and how it ends.
//
// A file x.cc defines `Command x_command(CLI::App& parent)`, which adds "x" with its options to the
// command line or to the command that it is part of; main.cc lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "catalog/catalog.h"
#include "outcome/result.h"
#include "report/drawing/text_style.h"

namespace orrery::cli {

enum ExitCode : int { done = 0, negative = 1, refused = 2, bug = 70, no_resources = 71 };

struct Common {
  bool json = false;
  int threads = 0;
  bool quiet = false;   // no progress, no drawing of the pipeline
  std::string catalog;  // a directory whose entries lie over the built-in ones
};

struct Command {
  CLI::App* app = nullptr;
  std::function<Result<int>(const Common&)> run;  // gives the exit code
};
using AddCommand = Command (*)(CLI::App& parent);

// Adds a command to another, with its options as they are where nothing is given.
template <class Options>
std::pair<CLI::App*, std::shared_ptr<Options>> subcommand(CLI::App& parent, const char* name,
                                                          const char* sentence) {
  return {parent.add_subcommand(name, sentence), std::make_shared<Options>()};
}
// A command that does this with its options.
template <class Options, class Run>
Command command(CLI::App* app, std::shared_ptr<Options> options, Run run) {
  return {app, [options = std::move(options), run](const Common& common) -> Result<int> {
            return run(*options, common);
          }};
}
// A command made of others, of which one is to be called.
Command command_group(CLI::App* app, std::span<const AddCommand> parts);

// Refuses the first of these options that is given.
Result<void> refuse_given(const CLI::App& app, std::initializer_list<const char*> options,
                          const std::string& message, const std::string& hint);
// Refuses what is not a number from `least` to `most`. CLI::Range lets "nan" pass, of which no
// comparison holds.
CLI::Validator number_within(double least, double most);

// Shows these options, all of which the command has, under a heading of their own in its help.
void show_under(CLI::App* app, const char* heading, std::initializer_list<const char*> options);

// Adds an option for a number within these; the help shows its usual value.
template <class T>
void add_number(CLI::App* app, const char* name, T& into, const char* sentence,
                const CLI::Validator& within) {
  app->add_option(name, into, sentence)->check(within)->capture_default_str();
}

// How answers are written; what the command line says of it.
struct OutputChoice {
  bool json = false;
  std::string colour = "auto";  // always, never; auto: on a terminal
};
void choose_output(OutputChoice choice);

// To standard error, as "orrery: text".
void say(const std::string& text);
// Says "where: message (hint)" and gives the exit code; with --json, standard output gets the error
// as a document as well.
int refuse(const Error& error, ExitCode code = ExitCode::refused);
// To standard output, checked: a full disk is an error. Where the locale's characters are not UTF-8
// (LC_ALL, LC_CTYPE or LANG names another set), text is drawn with ASCII; JSON stays as it is.
int print(const std::string& text);
// The same of an answer that is negative if it does not hold.
int answered(const std::string& text, bool holds);

// Width and colour of standard output, from --color, COLUMNS, the terminal, NO_COLOR and
// CLICOLOR_FORCE. What is no terminal and has no COLUMNS cuts nothing.
TextStyle text_style();

// The built-in catalog below the entries of --catalog, $ORRERY_CATALOG (empty: none) or
// ~/.config/orrery/catalog ($XDG_CONFIG_HOME in place of ~/.config), of the first that there is.
Result<Catalog> open_catalog(const Common& common);
// A file that is written beside an answer; no path: it was not asked for.
struct OutputFile {
  const char* kind;  // before its path in the answer: "report"
  std::string path;
  std::function<Result<std::string>()> text;
  const char* remark = "";  // behind its path
};
// "report    plan.html (remark)", without an end of the line: how an answer names a file.
std::string file_line(std::string_view kind, std::string_view path, std::string_view remark = "");
// Gives a line about each file, below a blank one. No file is replaced before all texts are written.
// Errors: those of the texts; io; two files of one name.
Result<std::string> write_all(std::initializer_list<OutputFile> files);
// Makes a folder, with those that it is in.
Result<void> make_folder(const std::string& folder);

// Keeps it for what is asked for next instead of returning it to the system: for commands that make
// and drop the graphs of thousands of plans, which would spend a quarter of their time on pages
// that come and go. Of other C libraries than glibc nothing is changed.
void keep_freed_memory();

}  // namespace orrery::cli
