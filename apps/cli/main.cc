// The orrery command: parses the command line, runs one subcommand, maps failures to exit codes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <system_error>

#include "command.h"
#include "command_documents.h"
#include "document/input_memory.h"
#include "help_text.h"
#include "parallel/parallel_for.h"
#include "parse_error.h"
#include "progress.h"
#include "units/quantity_text.h"
#include "version.h"

namespace orrery::cli {

// In the order of orrery --help.
Command estimate_command(CLI::App& orrery);
Command search_command(CLI::App& orrery);
Command compare_command(CLI::App& orrery);
Command forecast_command(CLI::App& orrery);
Command import_command(CLI::App& orrery);
Command check_command(CLI::App& orrery);
Command network_command(CLI::App& orrery);
Command collective_command(CLI::App& orrery);
Command cluster_command(CLI::App& orrery);
Command fleet_command(CLI::App& orrery);
Command catalog_command(CLI::App& orrery);
Command schedule_command(CLI::App& orrery);
Command generate_command(CLI::App& orrery);
Command validate_command(CLI::App& orrery);
Command calibrate_command(CLI::App& orrery);
Command trace_command(CLI::App& orrery);
Command numerics_command(CLI::App& orrery);
Command tables_command(CLI::App& orrery);

namespace {

constexpr std::array<AddCommand, 18> kAllCommands = {
    estimate_command, search_command,   compare_command,    forecast_command, import_command,
    check_command,    network_command,  collective_command, cluster_command,  fleet_command,
    catalog_command,  schedule_command, generate_command,   validate_command, calibrate_command,
    trace_command,    numerics_command, tables_command};

int run(int argc, char** argv) {
  CLI::App app{"Orrery predicts where every kernel, byte and second of a training run goes."};
  app.name("orrery");
  app.formatter(help_text());  // of every command
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", version_text());
  Common common;
  app.add_flag("--json", common.json, "one JSON document on standard output");
  app.add_option("--threads", common.threads, "threads to use; the result does not depend on it")
      ->check(CLI::Range(1, 4096));
  app.add_option("--catalog", common.catalog,
                 "a directory of entries over those of the built-in catalog");
  std::string input_limit;
  app.add_option("--max-input", input_limit,
                 "memory that an input may take beyond 128 bytes for each byte of its file "
                 "(default: 1GiB)");
  app.add_flag("-q", common.quiet, "no progress, and no drawing of the pipeline");
  std::string shell;
  app.add_option("--completion", shell, "print the completion of a shell: bash, zsh, fish");
  std::string manual;
  app.add_option("--manual", manual, "write manual pages into this folder");
  OutputChoice output;
  app.add_option("--color", output.colour, "colour text: auto (on a terminal), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}));

  std::vector<Command> commands;
  for (const AddCommand add : kAllCommands) commands.push_back(add(app));

  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  if (argc > 1 && std::string_view(argv[1]) == "--complete") {
    choose_output({.json = true});  // for a shell: not laid out for people
    return print(completions(app, words.subspan(2)));
  }

  // These two need no command.
  const auto wants = [&](std::string_view option) {
    return std::any_of(argv + 1, argv + argc, [&](std::string_view word) {
      return word == option || word.starts_with(std::string(option) + "=");
    });
  };
  if (wants("--completion") || wants("--manual")) app.require_subcommand(0);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const bool answers = e.get_exit_code() == 0;  // --help, --version
    if (answers && all_commands_known(app, words)) return app.exit(e);
    const auto is_json = [](const char* word) { return std::string_view(word) == "--json"; };
    choose_output({.json = std::ranges::any_of(words, is_json)});
    return refuse(parse_error(app, e, words));
  }
  output.json = common.json;
  choose_output(output);
  usual_threads() = common.threads;
  const Result<int> ended = [&]() -> Result<int> {
    if (!input_limit.empty()) {
      ORRERY_TRY(const Bytes bytes, at("--max-input", parse_bytes(input_limit)));
      if (bytes.value() < 1 || bytes.value() > 1e15) {
        return bad_input("'" + input_limit + "' is not between 1B and 1PB", "--max-input");
      }
      input_memory() = static_cast<std::uint64_t>(bytes.value());
    }
    if (app.count("--completion") > 0) {
      ORRERY_TRY(const std::string script, completion_script(shell));
      return print(script);
    }
    if (app.count("--manual") > 0) {
      ORRERY_RETURN_IF_ERROR(write_manual_pages(app, manual));
      return ExitCode::done;
    }
    for (const Command& one : commands) {
      if (one.app->parsed()) return one.run(common);
    }
    return ExitCode::bug;
  }();
  return ended ? *ended : refuse(ended.error());
}

}  // namespace
}  // namespace orrery::cli

int main(int argc, char** argv) {
  using orrery::ErrorCode;
  using orrery::cli::ExitCode;
  orrery::cli::remove_unfinished_files_on_signals();
  const auto fail = [](const char* message, const char* hint, ExitCode code) {
    try {
      return orrery::cli::refuse({ErrorCode::io, message, "", hint}, code);
    } catch (const std::bad_alloc&) {  // not even for the message
      std::fprintf(stderr, "orrery: %s\n", message);
      return static_cast<int>(code);
    }
  };
  try {
    return orrery::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", "the machine, or a limit such as ulimit -v, refuses more",
                ExitCode::no_resources);
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(e.what(), "", ExitCode::refused);
  } catch (const std::system_error& e) {
    return fail(e.what(), "the machine, or a limit such as ulimit -u, refuses it",
                ExitCode::no_resources);
  } catch (const std::exception& e) {
    return fail(e.what(), "this is a bug of ours, please report it", ExitCode::bug);
  }
}
