#include "command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "command_documents.h"
#include "document/new_file.h"
#include "report/documents.h"

namespace orrery::cli {
namespace {

OutputChoice output_choice;  // set once, by main

// The first of these that is set says which characters the terminal shows.
bool shows_only_ascii() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string set(value);
    for (char& c : set) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return set.find("utf-8") == std::string::npos && set.find("utf8") == std::string::npos;
  }
  return false;
}

bool write(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

}  // namespace

Command command_group(CLI::App* app, std::span<const AddCommand> parts) {
  app->require_subcommand(1);
  app->footer(full_name(*app) + " COMMAND --help explains a command.");
  std::vector<Command> added;
  for (const AddCommand add : parts) added.push_back(add(*app));
  return {app, [added = std::move(added)](const Common& common) -> Result<int> {
            for (const Command& one : added) {
              if (one.app->parsed()) return one.run(common);
            }
            return ExitCode::bug;
          }};
}

Result<void> refuse_given(const CLI::App& app, std::initializer_list<const char*> options,
                          const std::string& message, const std::string& hint) {
  for (const char* option : options) {
    if (app.count(option) > 0) return bad_input(message, option, hint);
  }
  return {};
}

CLI::Validator number_within(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) {
      return std::string();
    }
    return fmt::format("'{}' is not a number from {} to {}", text, least, most);
  };
  return {check, fmt::format("FLOAT in [{} - {}]", least, most)};
}

void show_under(CLI::App* app, const char* heading, std::initializer_list<const char*> options) {
  for (const char* name : options) {
    app->get_option(name)->group(heading);
  }
}

void choose_output(OutputChoice choice) { output_choice = std::move(choice); }

void say(const std::string& text) { std::fprintf(stderr, "orrery: %s\n", printable(text).c_str()); }

int refuse(const Error& error, ExitCode code) {
  say(error.text());
  if (output_choice.json) (void)write(to_json(error_json(error)));
  return code;
}

int print(const std::string& text) {
  const std::string shown = output_choice.json ? text : terminal_text(text, text_style());
  if (write(output_choice.json || !shows_only_ascii() ? shown : in_ascii(shown)))
    return ExitCode::done;
  say("standard output cannot be written");
  return ExitCode::refused;
}

int answered(const std::string& text, bool holds) {
  const int printed = print(text);
  return printed != ExitCode::done ? printed : holds ? ExitCode::done : ExitCode::negative;
}

TextStyle text_style() {
  TextStyle style;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const auto is_set = [](const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
  };
  const char* kind = std::getenv("TERM");
  const bool shows_colour = terminal && (kind == nullptr || std::strcmp(kind, "dumb") != 0);
  style.colour =
      output_choice.colour == "always" || (output_choice.colour == "auto" && !is_set("NO_COLOR") &&
                                           (shows_colour || is_set("CLICOLOR_FORCE")));
  winsize size{};
  style.cuts = terminal;
  if (const char* columns = std::getenv("COLUMNS")) {
    std::from_chars(columns, columns + std::strlen(columns), style.width);
    style.cuts = true;
  } else if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  constexpr int kPiped = 120;
  if (!style.cuts) style.width = kPiped;
  if (style.width < 40) style.width = 40;
  if (style.width > 160) style.width = 160;
  return style;
}

Result<Catalog> open_catalog(const Common& common) {
  if (!common.catalog.empty()) return Catalog::built_in_below(common.catalog);
  if (const char* own = std::getenv("ORRERY_CATALOG")) {
    return *own == '\0' ? Result<Catalog>(Catalog::built_in())
                        : at("ORRERY_CATALOG", Catalog::built_in_below(own));
  }
  const char* home = std::getenv("HOME");
  const char* settings = std::getenv("XDG_CONFIG_HOME");
  std::filesystem::path folder;
  if (settings != nullptr && *settings == '/') {
    folder = settings;
  } else if (home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / ".config";
  }
  std::error_code none;
  folder /= "orrery/catalog";
  if (folder.is_absolute() && std::filesystem::is_directory(folder, none)) {
    return Catalog::built_in_below(folder.string());
  }
  return Catalog::built_in();
}

std::string file_line(std::string_view kind, std::string_view path, std::string_view remark) {
  return fmt::format("{:<10}{}{}", kind, path, remark);
}

Result<std::string> write_all(std::initializer_list<OutputFile> files) {
  std::string lines;
  std::vector<NewFile> unfinished;
  std::set<std::string_view> paths;
  for (const OutputFile& file : files) {
    if (file.path.empty()) continue;
    if (!paths.insert(file.path).second) {
      return bad_input("two files cannot have the same name", file.path, "name each differently");
    }
    ORRERY_TRY(const std::string text, file.text());
    ORRERY_TRY(NewFile made, NewFile::create(file.path));
    made.append(text);
    unfinished.push_back(std::move(made));
    lines += (lines.empty() ? "\n" : "") + file_line(file.kind, file.path, file.remark) + "\n";
  }
  for (NewFile& file : unfinished) ORRERY_RETURN_IF_ERROR(file.finish());
  return lines;
}

Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorCode::io, "cannot be made: " + error.message(), folder);
  return {};
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargest = 32 << 20;  // that glibc takes: above it, mappings of their own remain
  constexpr int kKept = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

}  // namespace orrery::cli
