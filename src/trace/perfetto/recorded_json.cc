#include "trace/perfetto/recorded_json.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

#include "trace/perfetto/rank_events.h"
#include "trace/perfetto/run_header.h"
#include "trace/piece_writer.h"

namespace orrery {
namespace {

void append_run(std::span<const RecordedTrace> ranks, JsonText& out) {
  out.text += "{\n\"schemaVersion\": 1,\n";
  if (ranks.size() == 1) append_rank_header(ranks[0], out.text);
  if (ranks.size() > 1) append_ranks(ranks, out.text);
  const std::int64_t base = ranks.empty() ? 0 : ranks[0].base_ns;
  fmt::format_to(std::back_inserter(out.text),
                 "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n\"traceEvents\": [",
                 base);
  const std::vector<PlaceInFile> places = places_in_file(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankEvents(ranks[i], ranks[i].base_ns - base, places[i], out).all();
  }
  out.text += "\n]}\n";
}

}  // namespace

std::string recorded_json(std::span<const RecordedTrace> ranks) {
  JsonText out;
  append_run(ranks, out);
  return std::move(out.text);
}

Result<void> write_recorded_json(const std::string& file, std::span<const RecordedTrace> ranks) {
  ORRERY_TRY(PieceWriter writer, PieceWriter::create(file));
  JsonText out;
  out.file = &writer;
  append_run(ranks, out);
  writer.append(out.text);
  return writer.finish();
}

}  // namespace orrery
