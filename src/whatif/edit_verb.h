// What an edit of a what-if is: how it is written, what it may follow, and what it does.
//
// A verb is one file that fills an EditVerb, its declaration in known_edits.h, and its name in
// edit_verbs(). The language (edit_language.h), the command's help and what_if are made from the
// table. A statement is
//
//   verb [what stands behind it] [further words] [by FACTOR] [to TIME] [WHERE]
//
// of which `form` shows what this verb takes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "outcome/result.h"
#include "whatif/edit.h"

namespace orrery {

class Catalog;
class EditedRun;
struct AlignedStretches;
struct AppliedEdit;
struct KnownDivision;
struct PredictedOperations;

// What edits are applied with.
struct EditContext {
  const Catalog& catalog;
  const KnownDivision& known;
  // What edits of one verb that follow each other compare; forgotten before another verb.
  std::shared_ptr<const AlignedStretches> alike = nullptr;
  const PredictedOperations* operations = nullptr;  // of a recording none
};

// Whether a part of a statement may or must stand.
enum class EditPart : std::uint8_t { no, may, must };

// What stands right behind the verb.
enum class EditOperand : std::uint8_t { none, size, count, name, count_to_count };

// A further word with its value, as "link 50GB/s".
using EditField =
    std::variant<std::string Edit::*, std::int64_t Edit::*, std::optional<Bytes> Edit::*,
                 std::optional<BytesPerSecond> Edit::*, std::optional<Seconds> Edit::*>;
struct EditTerm {
  std::string_view word;
  EditField field;
};

// Whether durations change alone, or also what there is, its order and its dependencies.
enum class EditReach : std::uint8_t { durations, structure };

// Why an edit cannot stand behind another: "stands behind 'BEFORE'" goes on with `why`.
struct EditConflict {
  std::string why;
  std::string hint;
};

inline constexpr std::int64_t kLargestCount = 1'000'000'000;

struct EditVerb {
  std::string_view verb;
  std::string_view form;  // "scale WHERE by FACTOR"
  EditReach reach = EditReach::structure;
  EditOperand operand = EditOperand::none;
  std::int64_t least = 1;  // of the operand's first count
  std::int64_t most = kLargestCount;
  EditPart where = EditPart::no;
  EditPart factor = EditPart::no;
  EditPart time = EditPart::no;  // beside a factor that may stand: one of the two must
  std::span<const EditTerm> terms = {};
  bool asks_division = false;    // how the run's ranks divide its model (known_division.h)
  bool changes_kernels = false;  // afterwards recorded shapes or accelerators no longer hold
  bool rebuilds_passes = false;  // afterwards the recorded order of passes no longer holds

  // What is wrong with a statement whose parts all stand; empty if nothing is. Null: nothing is.
  std::string (*problem)(const Edit& edit) = nullptr;
  // Whether it contradicts an edit that stands anywhere before it. Null: it never does.
  std::optional<EditConflict> (*conflict)(const Edit& before, const Edit& edit) = nullptr;
  Result<void> (*apply)(EditedRun& run, AppliedEdit& edit, EditContext& context) = nullptr;
};

// All verbs, in the order in which they are listed for people.
std::span<const EditVerb* const> edit_verbs();

// For EditVerb::conflict of edits that scale with what was recorded: the same, said twice.
std::optional<EditConflict> counted_twice(const Edit& before, const Edit& edit);

// For EditVerb::problem of edits that add a link: a latency without its rate; empty if it is not.
std::string latency_without_link(const Edit& edit);

// For edits that mean nothing where nothing is selected. Error: nothing was.
Result<void> changed_something(const AppliedEdit& edit);

}  // namespace orrery
