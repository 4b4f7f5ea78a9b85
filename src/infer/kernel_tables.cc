#include "infer/kernel_tables.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace orrery {
namespace {

// RFC 4180: quoted where it holds a comma, a quote or the end of a line.
std::string cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string microseconds(Seconds time) { return fmt::format("{:.3f}", time.value() * 1e6); }

// "bf16" of "BFloat16", as the measured collectives of validation/kernels have it.
std::string collective_type(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames = {
      {{"BFloat16", "bf16"}, {"Half", "fp16"}, {"Float", "fp32"}, {"float", "fp32"}}};
  for (const auto& [theirs, ours] : kNames) {
    if (type.find(theirs) != std::string_view::npos) return std::string(ours);
  }
  return std::string(type);
}

struct Tables {
  KernelTable products{"recorded-products.csv", 0,
                       "accelerator,dtype,m,n,k,groups,latency_us,calls,op,shapes,kernel,"
                       "recorded_in\n"};
  KernelTable attention{"recorded-attention.csv", 0,
                        "accelerator,dtype,kernel,direction,causal,batch,queries,keys,num_heads,"
                        "num_kv_heads,head_dim,value_dim,latency_us,calls,op,recorded_in\n"};
  KernelTable memory{"recorded-memory-bound.csv", 0,
                     "accelerator,op,bytes,kernels,latency_us,calls,class,type,shapes,"
                     "recorded_in\n"};
  KernelTable collectives{"recorded-collectives.csv", 0,
                          "accelerator,collective,dtype,num_gpus,bytes,latency_us,calls,"
                          "recorded_in\n"};
};

}  // namespace

std::vector<KernelTable> kernel_tables(const RecordedKernels& recorded,
                                       const std::string& accelerator,
                                       const std::string& recorded_in) {
  Tables t;
  const std::string from = cell(recorded_in);
  const std::string on = cell(accelerator);
  for (const RecordedKernel& r : recorded.kernels) {
    if (!(r.time > Seconds(0))) continue;
    switch (r.kind) {
      case RecordedKernelKind::product: {
        const GemmShape& p = r.product;
        t.products.text +=
            fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", on, name_of(*r.format), p.m, p.n,
                        p.k, p.groups, microseconds(r.time), r.calls, cell(r.name), cell(r.shapes),
                        cell(r.kernel), from);
        ++t.products.rows;
        break;
      }
      case RecordedKernelKind::attention: {
        const AttentionShape& a = r.attention;
        t.attention.text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", on, name_of(*r.format),
            to_text(r.attention_kernel), to_text(r.direction), a.causal ? "true" : "false", a.batch,
            a.queries, a.keys, a.heads, a.kv_heads, a.query_key_dim, a.value_dim,
            microseconds(r.time), r.calls, cell(r.name), from);
        ++t.attention.rows;
        break;
      }
      case RecordedKernelKind::memory_bound:
        t.memory.text += fmt::format("{},{},{},{:.4g},{},{},{},{},{},{}\n", on, cell(r.name),
                                     r.moved.value(), r.launches, microseconds(r.time), r.calls,
                                     cell(r.of_class), cell(r.data_type), cell(r.shapes), from);
        ++t.memory.rows;
        break;
      case RecordedKernelKind::communication: {
        if (r.waiting_included || !r.collective) break;
        t.collectives.text +=
            fmt::format("{},{},{},{},{},{},{},{}\n", on, r.name, cell(collective_type(r.data_type)),
                        r.ranks, r.moved.value(), microseconds(r.time), r.calls, from);
        ++t.collectives.rows;
        break;
      }
      case RecordedKernelKind::other:
        break;
    }
  }
  std::vector<KernelTable> out;
  for (KernelTable* table : {&t.products, &t.attention, &t.memory, &t.collectives}) {
    if (table->rows > 0) out.push_back(std::move(*table));
  }
  return out;
}

}  // namespace orrery
