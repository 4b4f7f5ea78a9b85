#include "trace/kernel_class.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(KernelClass, TrustsTheOperatorBeforeTheName) {
  EXPECT_EQ(kernel_class("void cutlass::Kernel<...>", "aten::addmm", ""),
            KernelClass::matrix_product);
  EXPECT_EQ(kernel_class("ampere_sgemm_128x64_tn", "aten::cudnn_convolution", ""),
            KernelClass::convolution);
  EXPECT_EQ(kernel_class("vectorized_elementwise_kernel", "aten::native_layer_norm", ""),
            KernelClass::normalization);
  EXPECT_EQ(kernel_class("vectorized_elementwise_kernel", "aten::mul_", "Optimizer.step#Adam.step"),
            KernelClass::optimizer);
}

TEST(KernelClass, ReadsNamesOfLibraries) {
  EXPECT_EQ(kernel_class("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "aten::mm", ""),
            KernelClass::communication);
  EXPECT_EQ(kernel_class("Cijk_Ailk_Bljk_HHS_BH_MT128x128", "", ""), KernelClass::matrix_product);
  EXPECT_EQ(kernel_class("void flash_fwd_kernel<...>", "", ""), KernelClass::attention);
  EXPECT_EQ(kernel_class("void at::native::reduce_kernel<512, 1>", "aten::sum", ""),
            KernelClass::reduction);
  EXPECT_EQ(kernel_class("something", "", ""), KernelClass::other);
}

}  // namespace
}  // namespace orrery
