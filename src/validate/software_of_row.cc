#include "validate/software_of_row.h"

#include "validate/recipe_of_row.h"

namespace orrery {
namespace {

bool states(const MeasuredRow& row, std::string_view fact) {
  return row.variant.find(fact) != std::string::npos;
}

}  // namespace

Expressible<RowSoftware> software_of_row(const MeasuredRow& row, const RunConvention& convention,
                                         const Catalog& catalog) {
  auto profile = load_software(catalog, convention.software);
  if (!profile) return skip("the software profile: " + profile.error().text());
  RowSoftware out{std::move(*profile), {}};
  SoftwareProfile& software = out.software;
  out.assumed.push_back(software_assumption(software));
  if (states(row, "norm_kernel=fused")) software.norm = Kernels::fused;
  if (states(row, "norm_kernel=unfused")) software.norm = Kernels::eager;
  if (row.notes.find("kernel: torch") != std::string::npos) software.softmax = Kernels::eager;
  if (states(row, "compile=off")) software.host.launches = LaunchPath::each;
  if (states(row, "compile=on")) software.host.launches = LaunchPath::compiled;
  if (states(row, "cuda_graphs=full_iteration") || recipe_of_row(row).whole_step_graph)
    software.host.launches = LaunchPath::graphs;
  return out;
}

}  // namespace orrery
