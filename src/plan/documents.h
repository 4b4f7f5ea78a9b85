// The documents that the rows of a batch are made of: how long they are, and how rows are filled.
//
//   documents: {lengths: [{tokens: 512, count: 300}, {tokens: 4096, count: 20}], packing: packed}
//   documents: {file: lengths.csv, packing: padded}       columns tokens and, if it has one, count
//
// A row has `sequence_length` positions. Tokens attend to those of their own document only (arXiv
// 2407.21783 s.3.2), so that what attention computes follows from the lengths
// (lower/document_rows.h); everything else works on all positions of a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "document/fields.h"
#include "outcome/enum_names.h"
#include "outcome/result.h"

namespace orrery {

enum class Packing {
  concatenated,  // all documents in one stream, cut where a row is full: pre-training
  packed,  // whole documents, best fit of the longest first (arXiv 2404.10830 s.3): fine-tuning
  padded,  // one document a row, and padding behind it, which is computed as well
};

struct DocumentLength {
  std::int64_t tokens = 0;
  double count = 1;  // documents, or their share: only ratios matter
  bool operator==(const DocumentLength&) const = default;
};
Fields<DocumentLength> fields_of(const DocumentLength*);

struct Documents {
  std::vector<DocumentLength> lengths = {};  // empty: every row is one document
  std::string file = {};                     // instead, until it is read
  Packing packing = Packing::concatenated;
  bool operator==(const Documents&) const = default;
};
Fields<Documents> fields_of(const Documents*);

inline constexpr std::size_t kMaxDocumentLengths = 65'536;   // different ones
inline constexpr std::int64_t kMaxDocument = 1'000'000'000;  // tokens

// The lengths of a table of comma-separated values, ascending and different. Errors: no column
// `tokens`; a row whose length is not from 1 to `longest` or whose count is no number above 0, named
// by its line.
Result<std::vector<DocumentLength>> read_document_lengths(std::string_view text, std::string name,
                                                          std::int64_t longest = kMaxDocument);

// Why rows of `sequence_length` tokens cannot be filled so; empty if they can.
std::vector<std::string> document_problems(const Documents& documents,
                                           std::int64_t sequence_length);

}  // namespace orrery
