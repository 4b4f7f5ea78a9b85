// seeds: catalog/kernels
// Any text is either refused with an Error or read into parameters that give finite times.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cost/kernel/kernel_model.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_yaml(text, "fuzz.yaml");
  if (!document) return 0;
  const auto calibration = read_kernel_calibration(*document);
  if (!calibration) return 0;
  Accelerator accelerator;
  accelerator.name = "fuzz";
  accelerator.compute_units = 100;
  accelerator.peaks.bf16 = FlopsPerSecond(1e15);
  accelerator.memory.bandwidth = BytesPerSecond(1e12);
  const auto parameters = join_kernel_parameters(*calibration, accelerator);
  if (!parameters) return 0;
  const KernelModel model(*parameters);
  const Seconds product = model.gemm({512, 512, 512}, NumberFormat::fp8);
  const Seconds attention =
      model.attention({1, 512, 512, 8, 8, 64, 64, 0, true}, AttentionKernel::flash_2,
                      Direction::backward, NumberFormat::bf16);
  ORRERY_INVARIANT(std::isfinite(product.value()) && product > Seconds(0));
  ORRERY_INVARIANT(std::isfinite(attention.value()) && attention > Seconds(0));
  return 0;
}
