// seeds: tests/seeds/spec
// Specification files: never crash, hang or read files other than the catalog's.
#include <cstdint>

#include "estimate/spec.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document = parse_yaml({reinterpret_cast<const char*>(data), size}, "spec.yaml");
  if (!document || !is_spec(*document)) return 0;
  // A name with a slash is a path; a fuzzer has no business reading files.
  for (const char* key : {"model", "cluster"}) {
    const Value* v = document->root.find(key);
    if (v != nullptr && (v->scalar_text().find_first_of("/.-") == 0 ||
                         v->scalar_text().find('/') != std::string::npos ||
                         v->scalar_text().ends_with(".json") || v->scalar_text().ends_with("ml"))) {
      return 0;
    }
  }
  const auto spec = read_spec(*document, "", Catalog::built_in());
  if (!spec) return 0;
  const Scenario& s = spec->scenario;
  const auto completed = completed_plan(s.model, s.cluster, s.training, s.plan);
  (void)plan_problems(s.model, s.cluster, completed.training, completed.plan);
  return 0;
}
