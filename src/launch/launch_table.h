// What a training framework calls the parts of a plan: one table for each framework, read in both
// directions.
//
// A rule is a list of forms; a form says that some flags of the framework and some fields of a
// specification mean the same:
//
//   flags: {recompute_granularity: full, recompute_method: block, recompute_num_layers: $n}
//   means: {plan.recompute: full, plan.recompute_layers: $n}
//
// Import takes the first form of each rule whose flags are those of the file, and sets what it
// means. Emission takes the first whose meaning is that of the specification, and writes the flags.
// A pattern of either side is
//
//   8, full|block       a text; of several, any is read and the first is written
//   null                not given
//   $n, "ZeRO-$n"       a text with variables
//   "$n * plan.pp"      whole numbers, computed from the left, of variables, fields and numbers:
//                       + - *, / where it leaves no rest, and // which drops the rest; one unknown
//                       variable is solved for, except below //
//
// `when` restricts a form to specifications with these fields, and may use the variables of both
// sides. Rules are applied in the order of the table, so that a pattern may name a field that an
// earlier rule sets. `import: true` marks forms that are not written. `unsaid` is what a form cannot
// say: import lists the sentence. `refused` says why nothing can be written for a plan that the form
// fits, with fields in braces ("{plan.pp} stages"); `instead` names the fields of which other values
// would do. `add` is what the user has to write into the file.
//
// The tables are catalog/launch/*.yaml, with their sources; docs/launch.md explains them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "document/provenance.h"
#include "launch/launch_files.h"

namespace orrery {

// Patterns by the name of a flag or the path of a field, in order.
struct LaunchPatterns {
  std::vector<std::pair<std::string, std::string>> all;
  bool operator==(const LaunchPatterns&) const = default;
};
template <>
struct Codec<LaunchPatterns> {
  static Result<LaunchPatterns> read(const Value& v);
  static Value write(const LaunchPatterns& p);
  static ValueShape shape() { return {.example = "{name: pattern}"}; }
};

struct LaunchForm {
  LaunchPatterns when;
  LaunchPatterns flags;
  LaunchPatterns means;
  bool import = false;
  std::string unsaid;   // a form with it is not written either
  std::string refused;  // a form with it is not read
  std::vector<std::string> instead;
  std::string add;
  bool operator==(const LaunchForm&) const = default;
};
Fields<LaunchForm> fields_of(const LaunchForm*);

// Either `forms`, or one flag for one field: its value, or a word for each value of the field;
// `absent` is the field's value where the flag is not given.
struct LaunchRule {
  std::string flag;
  std::string field;
  LaunchPatterns words;
  std::optional<std::string> absent;
  std::vector<LaunchForm> forms;
  bool operator==(const LaunchRule&) const = default;
};
Fields<LaunchRule> fields_of(const LaunchRule*);

// Flags that neither time nor memory of a step depends on, as far as Orrery models them.
struct IrrelevantFlags {
  std::vector<std::string> flags;  // '*' at an end stands for any text
  std::string why;
  bool operator==(const IrrelevantFlags&) const = default;
};
Fields<IrrelevantFlags> fields_of(const IrrelevantFlags*);

struct LaunchTable {
  std::string name;
  std::vector<std::string> aliases;
  std::string title;
  std::string releases;                // that the flags were read in
  std::vector<LaunchSyntax> syntaxes;  // the first is written
  bool last_key = false;               // only the last part of a key counts: groups have no meaning
  std::string software;                // of runs that say nothing else
  std::string script;                  // that a written shell script starts
  std::vector<std::string> launcher;   // flags of torchrun, which stand before the script
  LaunchPatterns node;                 // flags of torchrun on several nodes, and their variables
  std::vector<std::string> environment;  // flags that are variables, which a script exports
  std::vector<std::string> lists;        // flags whose value is a list
  std::string placeholder;               // a value that stands for one that another file states
  LaunchPatterns renamed;                // names of other releases: key or first parts of it
  LaunchPatterns assumed;                // fields that neither the file nor the catalog says
  LaunchPatterns defaults;               // of flags that no rule has: what changes nothing
  std::vector<LaunchRule> rules;         // each with its forms, once read
  std::vector<IrrelevantFlags> irrelevant;
  Provenance provenance;
};
Fields<LaunchTable> fields_of(const LaunchTable*);

// Errors: fields as above; a pattern that cannot be read.
Result<LaunchTable> read_launch_table(const Document& document);
Result<LaunchTable> load_launch_table(const Catalog& catalog, std::string_view name);

// ---- patterns ----

using LaunchSettings = std::map<std::string, std::string, std::less<>>;

// Whether a text (or its absence) has this pattern; binds its variables.
bool matches(std::string_view pattern, const std::string* text, LaunchSettings& variables,
             const LaunchSettings& settings);

// The text of a pattern. Nothing for null, or where it depends on what is not known: the first such
// name is then in `missing`.
std::optional<std::string> filled(std::string_view pattern, const LaunchSettings& variables,
                                  const LaunchSettings& settings, std::string* missing);

// Flags as the file of a framework, with a comment that says where they come from and what they do
// not say.

// JSON has no comments: the lines are the list "_comment", which DeepSpeed ignores.
std::string launch_text(const LaunchTable& table, const LaunchFlags& flags,
                        const std::vector<std::string>& comment);

}  // namespace orrery
