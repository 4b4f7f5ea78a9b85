#include "report/numerics/vector_report.h"

#include <fmt/format.h>

#include "document/results.h"
#include "report/drawing/table.h"
#include "units/grouped.h"
#include "units/quantity_text.h"

namespace orrery {

std::string vector_text(const VectorStudy& study, const TextStyle& style) {
  Table table(left("table", 2), right("rows", 2), right("width", 2), right("index", 2),
              left("class", 2), right("bound", 2), right("worst error", 2), right("repeats", 2),
              right("huffman", 2), left("best", 2), right("gain", 2));
  for (const VectorRow& r : study.rows) {
    table.row(r.table, grouped(static_cast<std::int64_t>(r.rows)), std::to_string(r.width),
              fmt::format("{:.3f}", r.index), std::string(to_text(r.bound_class)),
              fmt::format("{:g}", r.bound), fmt::format("{:.2g}", r.worst_error),
              fmt::format("{:.2f}", r.repeats_ratio), fmt::format("{:.2f}", r.huffman_ratio),
              std::string(to_text(r.stage)), fmt::format("{:.2f}", r.gain));
  }
  return table.text(style) +
         fmt::format(
             "\nindex: share of the distinct rows that become equal; repeats, huffman: bytes "
             "before "
             "over bytes behind.\ngain: time of an exchange at {} over that with a codec of {} and "
             "{}; below 1 vectors are better sent as they are.\n",
             to_text(study.settings.link), to_text(study.settings.compress),
             to_text(study.settings.decompress));
}

template <>
inline constexpr auto kResults<VectorRow> = table<VectorRow>(
    "compressed table", "One embedding table.", field<&VectorRow::table>("name of its tensor"),
    field<&VectorRow::rows>("vectors"), field<&VectorRow::width>("elements of one"),
    field<&VectorRow::index>("1 - distinct rows behind / before quantisation"),
    field<&VectorRow::bound_class>("how tightly errors are bounded"),
    field<&VectorRow::bound>("of the error of an element"),
    field<&VectorRow::worst_error>("of any element"),
    field<&VectorRow::repeats_ratio>("bytes before over bytes behind, of repeated rows"),
    field<&VectorRow::huffman_ratio>("bytes before over bytes behind, of a prefix code"),
    field<&VectorRow::stage>("with the better ratio"),
    field<&VectorRow::gain>("time of the exchange without over that with it"));

template <>
inline constexpr auto kResults<VectorStudy> = table<VectorStudy>(
    "vectors", "What error-bounded compression makes of embedding tables.", schema_version<1>(),
    constant("kind", "what the document is", "numerics-vectors"),
    field("iteration", "of the training", [](auto& s) { return s.settings.iteration; }),
    field("link_bytes_per_s", "of the exchange", [](auto& s) { return s.settings.link; }),
    field("compress_bytes_per_s", "of the codec", [](auto& s) { return s.settings.compress; }),
    field("decompress_bytes_per_s", "of its inverse",
          [](auto& s) { return s.settings.decompress; }),
    field<&VectorStudy::rows>("in the order of the file"));

Value vector_json(const VectorStudy& study) { return answer(study); }
const Description& vector_document() { return description_of<VectorStudy>(); }

}  // namespace orrery
