// What the flags of launch files set, by the rules of a framework's table, and an account of every
// flag: used, irrelevant, or not understood with the reason.
//
// Of a flag that is given several times the last counts, except that a table's placeholder (the
// "auto" of DeepSpeed) never replaces a stated value, in whatever order the files are read.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "launch/launch_table.h"
#include "outcome/result.h"

namespace orrery {

// The key of the table for a key of a file.
std::string key_in(const LaunchTable& table, const std::string& key);
// Keys that rules mention.
LaunchSettings known_keys(const LaunchTable& table);

// A key that rules mention is irrelevant only by its own name: a pattern would hide values that the
// rules do not cover.
enum class IrrelevantNames { all, without_patterns };
const IrrelevantFlags* irrelevant_in(const LaunchTable& table, const std::string& key,
                                     IrrelevantNames names);

class LaunchImport {
 public:
  LaunchImport(const LaunchTable& table, LaunchFlags flags);

  // Fields that the files cannot change.
  void pin(const std::string& field, const std::string& value);
  void apply();

  LaunchSettings settings;
  [[nodiscard]] const std::vector<AccountedFlag>& flags() const { return flags_; }
  // Flags that the table knows and whose value is not known; then what rules leave unsaid.
  [[nodiscard]] std::vector<std::string> unsaid() const;
  // Error: a flag states a degree or a count below 1. `several`: the error names the file.
  [[nodiscard]] Result<void> check_counts(bool several) const;

 private:
  // The text of a flag; nullptr if it is not given.
  [[nodiscard]] const std::string* text_of(const std::string& key) const;
  [[nodiscard]] bool is_unresolved(const std::string& key) const;
  [[nodiscard]] bool fits(const LaunchForm& form, LaunchSettings& variables) const;
  void apply(const LaunchRule& rule);
  void set(const LaunchForm& form, const LaunchSettings& fields);
  void leave_unsaid(const LaunchForm& form);
  void use(const std::string& key, const std::string& fields);
  void account(std::size_t i, const LaunchSettings& known);

  const LaunchTable& table_;
  std::vector<AccountedFlag> flags_;
  std::vector<std::string> keys_;                // of the table, by flag
  std::map<std::string, std::size_t> last_;      // flag of each key that counts
  std::map<std::size_t, std::size_t> replaced_;  // flags that do not count, and the one that does
  std::map<std::string, std::string> why_not_;   // why a flag is not understood
  std::map<std::string, std::size_t> from_;      // the flag that set a field
  std::vector<std::string> unsaid_;
  LaunchSettings pinned_;
};

}  // namespace orrery
