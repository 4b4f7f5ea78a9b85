// seeds: examples
// Sections `forecast` of specifications: read and checked or refused in one line; a number of tokens
// is one or an error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "document/value.h"
#include "forecast/run_question.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto tokens = parse_tokens(text); tokens && !std::isfinite(*tokens)) std::abort();
  if (const auto budget = parse_budget(text); budget && !(budget->value() > 0)) std::abort();
  const auto document = parse_yaml(text, "spec.yaml");
  if (!document) return 0;
  const Value* section = document->root.find("forecast");
  const auto question = Codec<RunQuestion>::read(section != nullptr ? *section : document->root);
  if (!question) return 0;
  const auto sound = check(*question);
  if (!sound && sound.error().text().find('\n') != std::string::npos) std::abort();
  (void)parse_tokens(question->tokens);
  return 0;
}
