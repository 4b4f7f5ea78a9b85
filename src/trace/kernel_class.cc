#include "trace/kernel_class.h"

#include <algorithm>
#include <array>
#include <span>

#include "trace/has.h"
#include "trace/recorded_trace.h"

namespace orrery {
namespace {

struct Word {
  std::string_view text;  // in lower case
  KernelClass meaning;
};

// The first that occurs decides, so what is narrow stands before what is broad.
constexpr std::array kOperatorWords = {
    Word{"attention", KernelClass::attention},     Word{"flash", KernelClass::attention},
    Word{"convolution", KernelClass::convolution}, Word{"conv1d", KernelClass::convolution},
    Word{"conv2d", KernelClass::convolution},      Word{"embedding", KernelClass::embedding},
    Word{"norm", KernelClass::normalization},      Word{"softmax", KernelClass::softmax},
    Word{"optimizer", KernelClass::optimizer},     Word{"adam", KernelClass::optimizer},
    Word{"_foreach_", KernelClass::optimizer},     Word{"multi_tensor", KernelClass::optimizer},
};
// Whole names, after "aten::".
constexpr std::array kProducts = {std::string_view("mm"),         std::string_view("addmm"),
                                  std::string_view("bmm"),        std::string_view("baddbmm"),
                                  std::string_view("matmul"),     std::string_view("linear"),
                                  std::string_view("_scaled_mm"), std::string_view("addmv"),
                                  std::string_view("mv"),         std::string_view("dot")};
constexpr std::array kKernelWords = {
    Word{"fmha", KernelClass::attention},       Word{"flash", KernelClass::attention},
    Word{"attention", KernelClass::attention},  Word{"attn", KernelClass::attention},
    Word{"convolve", KernelClass::convolution}, Word{"conv2d", KernelClass::convolution},
    Word{"wgrad", KernelClass::convolution},    Word{"dgrad", KernelClass::convolution},
    Word{"winograd", KernelClass::convolution}, Word{"igemm", KernelClass::convolution},
    Word{"gemm", KernelClass::matrix_product},  Word{"cijk_", KernelClass::matrix_product},
    Word{"gemv", KernelClass::matrix_product},  Word{"cutlass", KernelClass::matrix_product},
    Word{"nvjet", KernelClass::matrix_product}, Word{"splitkreduce", KernelClass::matrix_product},
    Word{"softmax", KernelClass::softmax},      Word{"norm", KernelClass::normalization},
    Word{"bn_fw", KernelClass::normalization},  Word{"bn_bw", KernelClass::normalization},
    Word{"embedding", KernelClass::embedding},  Word{"multi_tensor", KernelClass::optimizer},
    Word{"adam", KernelClass::optimizer},       Word{"elementwise", KernelClass::elementwise},
    Word{"reduce", KernelClass::reduction},     Word{"triton_poi", KernelClass::elementwise},
    Word{"triton_red", KernelClass::reduction}, Word{"triton_per", KernelClass::reduction},
};

KernelClass first_word(std::string_view text, std::span<const Word> words) {
  for (const Word& word : words) {
    if (contains_ignoring_case(text, word.text)) return word.meaning;
  }
  return KernelClass::other;
}

}  // namespace

KernelClass kernel_class(std::string_view kernel, std::string_view op, std::string_view outer) {
  if (is_communication_kernel(kernel)) return KernelClass::communication;
  if (op.starts_with("aten::")) {
    const std::string_view bare = op.substr(std::string_view("aten::").size());
    if (std::ranges::find(kProducts, bare) != kProducts.end()) return KernelClass::matrix_product;
  }
  if (contains_ignoring_case(outer, "optimizer.step")) return KernelClass::optimizer;
  const KernelClass by_operator = first_word(op, kOperatorWords);
  if (by_operator != KernelClass::other) return by_operator;
  return first_word(kernel, kKernelWords);
}

}  // namespace orrery
