#include "measured/software_of_row.h"

namespace orrery {
Expressible<RowSoftware> software_of_row(const MeasuredRow& row, const RunConvention& convention,
                                         const Catalog& catalog) {
  auto profile = load_software(catalog, convention.software);
  if (!profile) return skip("the software profile: " + profile.error().text());
  RowSoftware out{std::move(*profile), {}};
  SoftwareProfile& software = out.software;
  out.assumed.push_back(software_assumption(software));
  if (row.norm_kernel == "fused") software.norm = Kernels::fused;
  if (row.norm_kernel == "unfused") software.norm = Kernels::eager;
  if (row.softmax_kernel == "unfused") software.softmax = Kernels::eager;
  if (row.compile == "off") software.host.launches = LaunchPath::each;
  if (row.compile == "on") software.host.launches = LaunchPath::compiled;
  if (row.cuda_graphs == "full_iteration") software.host.launches = LaunchPath::graphs;
  if (row.cross_entropy == "fused") software.cross_entropy = Kernels::fused;
  return out;
}

}  // namespace orrery
