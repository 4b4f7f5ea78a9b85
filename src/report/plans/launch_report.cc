#include <algorithm>

#include "document/results.h"
#include "report/drawing/table.h"
#include "report/plans/plan_reports.h"

namespace orrery {

template <>
inline constexpr auto kResults<AccountedFlag> = table<AccountedFlag>(
    "accounted flag", "One flag of the files.",
    field<&AccountedFlag::flag, &LaunchFlag::key>("flag", "its name, or the path of its key"),
    field<&AccountedFlag::flag, &LaunchFlag::value>("value",
                                                    "as given; of a list, joined by blanks"),
    field<&AccountedFlag::flag, &LaunchFlag::file>("file", "that gives it"),
    field<&AccountedFlag::flag, &LaunchFlag::line>("line", "of the file"),
    field<&AccountedFlag::use>("used, irrelevant to time and memory, or not understood"),
    field<&AccountedFlag::what>("the fields that it sets, or why it sets none"));

template <>
inline constexpr auto kResults<ImportedLaunch> = table<ImportedLaunch>(
    "imported launch", "A launch of a framework as a specification.", schema_version<1>(),
    constant("kind", "of document", "import"),
    field<&ImportedLaunch::framework>("whose files they are, of orrery catalog launch"),
    field<&ImportedLaunch::software>("profile of orrery catalog software"),
    field<&ImportedLaunch::model>("name of the model; imported: described in the specification"),
    field("plan", "what the files say of it, without defaults",
          [](auto& l) { return WithoutDefaults<Plan>{l.plan}; }),
    field("training", "what the files say of it, without defaults",
          [](auto& l) { return WithoutDefaults<Training>{l.training}; }),
    field<&ImportedLaunch::unsaid>("what the files do not say"),
    field<&ImportedLaunch::flags>("every flag, in the order of the files"),
    field("specification", "for orrery estimate, in YAML",
          [](auto& l) { return to_yaml(l.specification); }));

namespace {

std::size_t count(const ImportedLaunch& launch, FlagUse use) {
  return static_cast<std::size_t>(std::ranges::count(launch.flags, use, &AccountedFlag::use));
}

Table flag_table(const ImportedLaunch& launch, FlagUse use) {
  Table table(right("line", 9), left("flag", 9), left("value", 6), left("", 5));
  constexpr std::size_t kLongest = 40;
  for (const AccountedFlag& f : launch.flags) {
    if (f.use != use) continue;
    const std::string value = printable(f.flag.value);
    table.row(std::to_string(f.flag.line), printable(f.flag.key),
              value.size() > kLongest ? value.substr(0, kLongest) + "..." : value,
              printable(f.what));
  }
  return table;
}

}  // namespace

std::string launch_text(const ImportedLaunch& launch, const TextStyle& style) {
  std::string out =
      paragraph(style, "{}: {} flags used, {} irrelevant to time and memory, {} not understood.",
                launch.title, count(launch, FlagUse::used), count(launch, FlagUse::irrelevant),
                count(launch, FlagUse::not_understood));
  out += section("Not understood", "", flag_table(launch, FlagUse::not_understood), style);
  if (!launch.unsaid.empty()) {
    out += heading("Not in the files", "", style);
    for (const std::string& what : launch.unsaid) out += paragraph(style, printable(what));
  }
  return out + section("Used", "", flag_table(launch, FlagUse::used), style) +
         section("Irrelevant", "", flag_table(launch, FlagUse::irrelevant), style);
}

Value launch_json(const ImportedLaunch& launch) { return answer(launch); }
const Description& launch_document() { return description_of<ImportedLaunch>(); }

std::string launch_yaml(const ImportedLaunch& launch) {
  std::string out = "# Imported from a launch of " + launch.title + ".\n";
  for (const std::string& what : launch.unsaid)
    out += "# Not in the files: " + printable(what) + "\n";
  for (const AccountedFlag& f : launch.flags) {
    if (f.use != FlagUse::not_understood) continue;
    out += "# Not understood, line " + std::to_string(f.flag.line) + ": " + printable(f.flag.key) +
           " " + printable(f.flag.value) + "\n";
  }
  return out + to_yaml(launch.specification);
}

}  // namespace orrery
