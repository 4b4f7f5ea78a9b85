// Reads and writes Chakra `.et` files: records until the end of the file, each an unsigned LEB128
// length of at most 32 bits and that many bytes of protobuf; the first record is the metadata, all
// others are nodes. gzip is read whatever the name says, and written if the name ends in .gz.
//
// Refused, each with its byte: a length that is no number or passes the end of the file, a record
// of length zero (other readers take it for the end), bytes that are no protobuf, a node type that
// the schema does not know, damaged gzip; and a file without any node. Whether nodes make sense
// together is asked of chakra_check.h. Linear in the file; the memory is that of the trace.
//
// Source: protolib of mlcommons/chakra (framing), schema et_def.proto (messages).
#pragma once

#include <string>

#include "outcome/result.h"
#include "trace/byte_stream.h"
#include "trace/chakra/chakra_trace.h"
#include "trace/incomplete.h"

namespace orrery {

// `file` is a path, or "-" for standard input. Of a file that ends in the middle the whole records
// can be used; then dependencies of theirs may be absent.
Result<ChakraTrace> read_chakra(const std::string& file,
                                Incomplete incomplete = Incomplete::refuse);
Result<ChakraTrace> read_chakra(ByteStream stream, Incomplete incomplete = Incomplete::refuse);

// The bytes of a file. Bytes that are not valid UTF-8 are written as '?', because other readers
// would refuse the whole file.
std::string chakra_bytes(const ChakraTrace& trace);
// Writes the whole file or nothing. Errors: io.
Result<void> write_chakra(const std::string& file, const ChakraTrace& trace);

}  // namespace orrery
