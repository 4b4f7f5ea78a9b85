// Quantities from and to text: "400 Gb/s", "80 GiB", "3.35 TB/s", "989 TFLOP/s", "12 us".
//
// Bits ("b") are not bytes ("B"), and decimal prefixes (k M G T P E) are not binary ones (Ki Mi Gi
// Ti Pi Ei), so case matters. A bare number other than 0 is refused with a hint, because its unit
// cannot be known. "FLOP/s" may be written "FLOPS". Prefixes are exact powers. Space between number
// and unit is optional.
#pragma once

#include <string>
#include <string_view>

#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

// Errors: not a number; unknown unit; unit of another dimension; infinite or NaN.
Result<Seconds> parse_seconds(std::string_view text);
Result<Bytes> parse_bytes(std::string_view text);
Result<BytesPerSecond> parse_bytes_per_second(std::string_view text);
Result<FlopsPerSecond> parse_flops_per_second(std::string_view text);
Result<Hertz> parse_hertz(std::string_view text);
Result<Watts> parse_watts(std::string_view text);
Result<DollarsPerSecond> parse_dollars_per_second(std::string_view text);

// A plain count, with an optional binary prefix: "16384", "16Ki". Refused: "16k" and "1M", which
// may mean 16000 or 16384, 1000000 or 1048576.
Result<double> parse_count(std::string_view text);

// Readable text: three significant digits and the prefix that puts the number in [1, 1000).
// Seconds use s, ms, us, ns, ps and above two hours h and days.
std::string to_text(Seconds s);
std::string to_text(Bytes b);  // binary prefixes: memory sizes
std::string to_text(BytesPerSecond r);
std::string to_text(Flops f);
std::string to_text(FlopsPerSecond r);

// Text that parse_*(x) reads back to the same bits: the fewest digits, with a prefix if that is
// exact.
std::string to_exact_text(Seconds s);
std::string to_exact_text(Bytes b);
std::string to_exact_text(BytesPerSecond r);
std::string to_exact_text(FlopsPerSecond r);
std::string to_exact_text(Hertz f);
std::string to_exact_text(Watts w);
std::string to_exact_text(DollarsPerSecond r);

}  // namespace orrery
