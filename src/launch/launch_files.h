// Launch files as flat lists of flags, whatever their syntax.
//
//   shell      the flags of the commands of a script (shell_script.h)
//   arguments  the dump a log begins with: "  tensor_model_parallel_size ........ 8"
//   yaml       a.b: v  is the flag "a.b"; ${x.y} and ${.y} stand for other keys of the file
//   json, toml the same, without references
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "outcome/result.h"

namespace orrery {

enum class LaunchSyntax { shell, arguments, yaml, json, toml };

// One setting of a launch file: a flag of a command line, or a key of a YAML, TOML or JSON file.
struct LaunchFlag {
  std::string key;    // "tensor_model_parallel_size", "training.seq_len"
  std::string value;  // the items of a list are joined by blanks; "true" for a switch
  std::string file;
  int line = 0;
  bool given = true;       // false: null or None, which is as if the flag was left out
  std::string unresolved;  // why the value is not known; empty: it is
};
using LaunchFlags = std::vector<LaunchFlag>;

struct LaunchFile {
  LaunchSyntax syntax = LaunchSyntax::shell;
  LaunchFlags flags;
};

// The leaves of a tree, by their paths.
LaunchFlags leaves(const Value& tree, const std::string& file);

// The syntax follows from the ending of the name, or else from the text. Errors: those of the
// syntax.
Result<LaunchFile> parse_launch_file(std::string_view text, const std::string& name);
// A file, or "-" for standard input. Errors: unreadable, and the above.
Result<LaunchFile> read_launch_file(const std::string& path);

}  // namespace orrery
