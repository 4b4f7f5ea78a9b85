#include "launch/shell_word.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

// The text up to the closing bracket.
std::string inside(std::string_view text, ShellBracket bracket) {
  const std::size_t end = end_of_bracket(text, 0, bracket);
  return end == std::string_view::npos ? "not closed" : std::string(text.substr(0, end));
}

TEST(ShellBrackets, AreNotClosedWithinQuotesEscapesAndComments) {
  using enum ShellBracket;
  EXPECT_EQ(inside("echo \")\" | wc -l) x", command), "echo \")\" | wc -l");
  EXPECT_EQ(inside("echo ')' \\) `)` $(a ')' b)) x", command), "echo ')' \\) `)` $(a ')' b)");
  EXPECT_EQ(inside("a # it's\nb) x", command), "a # it's\nb");
  EXPECT_EQ(inside("echo \"$(f \")\")\") x", command), "echo \"$(f \")\")\"");
  EXPECT_EQ(inside("cat <<E\nit's )\nE\n) x", command), "cat <<E\nit's )\nE\n");
  EXPECT_EQ(inside("echo $((1 << 2)) (b)) x", command), "echo $((1 << 2)) (b)");
  EXPECT_EQ(inside("X:-'}'} x", expansion), "X:-'}'");
  EXPECT_EQ(inside("X:-it's} x", quoted_expansion), "X:-it's");
  EXPECT_EQ(inside("(1 + 2) * 3)) x", arithmetic), "(1 + 2) * 3");
  EXPECT_EQ(inside("echo \")", command), "not closed");
}

TEST(ShellBrackets, HereDocumentsEndAtTheirDelimiter) {
  const std::string_view text = "-'EOF' | cat\n\ta\n\tEOF\nb";
  std::size_t at = 0;
  const HereDocument document = take_here_document(text, at);
  EXPECT_EQ(document.delimiter, "EOF");
  EXPECT_TRUE(document.indented);
  EXPECT_EQ(text.substr(at), " | cat\n\ta\n\tEOF\nb");
  EXPECT_EQ(text.substr(end_of_here_document(text, 13, document)), "b");
  EXPECT_EQ(end_of_here_document("1 ))\nrun\n", 5, {"2", false}), 5U);  // a shift
}

}  // namespace
}  // namespace orrery
