// Time of one call of the kernel model; a search makes millions.
#include <benchmark/benchmark.h>

#include "cost/kernel/kernel_model.h"

namespace orrery {
namespace {

KernelModel model_of(const char* name) {
  const Catalog& catalog = Catalog::built_in();
  return KernelModel(
      load_kernel_parameters(catalog, load_accelerator(catalog, name).value()).value());
}

void gemm(benchmark::State& state) {
  const KernelModel model = model_of("h100-sxm");
  GemmShape shape{static_cast<double>(state.range(0)), 8192, 4096};
  for (auto _ : state) {
    benchmark::DoNotOptimize(shape);
    benchmark::DoNotOptimize(model.gemm(shape, NumberFormat::bf16));
  }
}
BENCHMARK(gemm)->Arg(64)->Arg(8192);

void attention(benchmark::State& state) {
  const KernelModel model = model_of("h100-sxm");
  AttentionShape shape{1, 8192, 8192, 16, 2, 128, 128, 0, true};
  for (auto _ : state) {
    benchmark::DoNotOptimize(shape);
    benchmark::DoNotOptimize(
        model.attention(shape, AttentionKernel::flash_3, Direction::backward, NumberFormat::bf16));
  }
}
BENCHMARK(attention);

}  // namespace
}  // namespace orrery
