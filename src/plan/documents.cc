#include "plan/documents.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "document/comma_separated.h"
#include "outcome/parsed_number.h"

namespace orrery {

Fields<DocumentLength> fields_of(const DocumentLength*) {
  return Fields<DocumentLength>("document length")
      .required<&DocumentLength::tokens>("tokens of a document")
      .optional<&DocumentLength::count>("documents of that length, or their share");
}

Fields<Documents> fields_of(const Documents*) {
  return Fields<Documents>("documents")
      .optional<&Documents::lengths>("how many documents have which length")
      .optional<&Documents::file>("CSV with the columns tokens and, if it has one, count")
      .optional<&Documents::packing>("how rows are filled with documents");
}

Result<std::vector<DocumentLength>> read_document_lengths(std::string_view text, std::string name,
                                                          std::int64_t longest) {
  ORRERY_TRY(const CommaSeparated table, parse_comma_separated(text, std::move(name)));
  ORRERY_RETURN_IF_ERROR(table.complete());
  const auto column = [&](std::string_view key) {
    return static_cast<std::size_t>(std::ranges::find(table.columns, key) - table.columns.begin());
  };
  const std::size_t tokens = column("tokens");
  const std::size_t count = column("count");
  if (tokens == table.columns.size()) {
    return bad_input("has no column 'tokens'", table.name, "a header such as \"tokens,count\"");
  }
  std::map<std::int64_t, double> counts;
  for (const CommaSeparated::Record& row : table.records) {
    const std::string where = fmt::format("{}: line {}", table.name, row.line);
    const auto length = parsed_number<std::int64_t>(row.fields[tokens]);
    if (!length || *length < 1 || *length > longest) {
      return bad_input(fmt::format("'{}' is no length of a document", row.fields[tokens]), where,
                       longest < kMaxDocument
                           ? fmt::format("from 1 to the {} tokens of a row; or "
                                         "packing: concatenated, which cuts documents",
                                         longest)
                           : fmt::format("whole tokens, from 1 to {}", longest));
    }
    std::optional<double> documents = 1;
    if (count < table.columns.size()) documents = parsed_number<double>(row.fields[count]);
    if (!documents || !(*documents > 0) || !std::isfinite(*documents)) {
      return bad_input(fmt::format("'{}' is no number of documents", row.fields[count]), where,
                       "a number above 0");
    }
    counts[*length] += *documents;
  }
  if (counts.empty()) return bad_input("has no rows", table.name);
  std::vector<DocumentLength> out;
  for (const auto& [length, documents] : counts) out.push_back({length, documents});
  return out;
}

std::vector<std::string> document_problems(const Documents& documents,
                                           std::int64_t sequence_length) {
  std::vector<std::string> out;
  if (sequence_length < 1) {
    return {fmt::format("documents: rows of {} tokens hold none", sequence_length)};
  }
  if (documents.lengths.size() > kMaxDocumentLengths) {
    return {fmt::format("documents: {} different lengths are more than {}",
                        documents.lengths.size(), kMaxDocumentLengths)};
  }
  for (std::size_t i = 0; i < documents.lengths.size() && out.empty(); ++i) {
    const auto& [tokens, count] = documents.lengths[i];
    const auto refuse = [&](const std::string& why) {
      out.push_back(fmt::format("documents: lengths[{}]: {}", i, why));
    };
    if (tokens < 1 || tokens > kMaxDocument) {
      refuse(fmt::format("{} tokens is outside 1 to {}", tokens, kMaxDocument));
    } else if (!(count > 0) || count > 1e15) {
      refuse(fmt::format("a count of {} is outside 0 to 1e15", count));
    } else if (tokens > sequence_length && documents.packing != Packing::concatenated) {
      refuse(fmt::format(
          "a document of {} tokens does not fit into a row of {}; packing=concatenated cuts it",
          tokens, sequence_length));
    }
  }
  return out;
}

}  // namespace orrery
