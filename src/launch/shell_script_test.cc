#include "launch/shell_script.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

// "key=value" of every flag, with "?" behind what is not known.
std::vector<std::string> flags(std::string_view text) {
  const auto read = read_shell_script(text, "run.sh");
  if (!read) return {read.error().text()};
  std::vector<std::string> out;
  for (const LaunchFlag& f : *read) {
    out.push_back(f.key + "=" + f.value + (f.unresolved.empty() ? "" : "?"));
  }
  return out;
}
using testing::ElementsAre;

TEST(ShellScript, ReadsQuotesContinuedLinesAndComments) {
  EXPECT_THAT(flags("python train.py --a 1 \\\n  --b='x y' --c \"z\" # --d 4\n"),
              ElementsAre("a=1", "b=x y", "c=z"));
}

TEST(ShellScript, ExpandsVariablesArraysDefaultsAndArithmetic) {
  EXPECT_THAT(flags("N=4\nG=${G:-8}\nexport W=$((N * $G + 1))\nA=(--x $N # why\n --y \"$W\")\n"
                    "A+=(--z)\nOLD=\"--p 1 \\\n --q 2\"\ntorchrun ${A[@]} $OLD t.py \"$@\"\n"),
              ElementsAre("x=4", "y=33", "z=true", "p=1", "q=2"));
}

TEST(ShellScript, KeepsWhatOnlyTheRunKnowsUnresolved) {
  EXPECT_THAT(flags("run --a $1 --b $(date) --c ${HOME} --d ${X%y} --e `x` --f ${2:-7}\n"),
              ElementsAre("a=$1?", "b=$(date)?", "c=$HOME?", "d=${X%y}?", "e=`x`?", "f=7"));
}

TEST(ShellScript, TakesTheBranchThatTheTextDecides) {
  EXPECT_THAT(flags("T=fp8\nif [[ $T == bf16 ]]; then\n A=(--bf16)\nelif [ \"$T\" = fp8 ]; then\n"
                    " A=(--fp8)\nelse\n A=(--fp16)\nfi\nrun ${A[@]}\n"),
              ElementsAre("fp8=true"));
  EXPECT_THAT(flags("if [ 3 -gt 2 ] && [ -z \"\" ]; then run --a; else run --b; fi\n"),
              ElementsAre("a=true"));
}

TEST(ShellScript, GuessesNoUndecidedBranch) {
  EXPECT_THAT(flags("A=(--x 1)\nif [ -n \"$KEY\" ]; then\n A+=(--y 2)\nfi\nrun ${A[@]}\n"),
              ElementsAre("x=1", "y=2?"));
  EXPECT_THAT(flags("N=1\n[ -f x ] && N=2\nrun --n $N\n"), ElementsAre("n=2?"));
  EXPECT_THAT(flags("for i in 1 2; do run --n $i; done\n"), ElementsAre("n=$i?"));
}

TEST(ShellScript, ReadsOptionsOfTheBatchSystem) {
  EXPECT_THAT(flags("#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nsrun x\n"),
              ElementsAre("sbatch_nodes=4", "sbatch_gpus_per_node=8"));
}

TEST(ShellScript, ListsTheFlagsOfFunctionsWithoutFollowingCalls) {
  EXPECT_THAT(flags("f() {\n  if x; then { run --a 1; }; fi\n  N=2\n}\nrun --b 3 --n $N\n"),
              ElementsAre("a=1?", "b=3", "n=2?"));
  EXPECT_THAT(flags("function f {\n run --a\n}\nfunction g()\n{ run --b; }\nrun --c\n"),
              ElementsAre("a=true?", "b=true?", "c=true"));
  const auto read = read_shell_script("f() { run --a 1; }\n", "run.sh");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->front().unresolved, "given in a function, whose calls are not followed");
}

TEST(ShellScript, ReadsOverHereDocumentsAndListsThoseWithFlags) {
  EXPECT_THAT(flags("cat <<EOF | tee x\nit's\nEOF\nrun --a 1\n"), ElementsAre("a=1"));
  EXPECT_THAT(flags("cat <<-'E' > x\nrun --a\n\tE\nrun --b\n"), ElementsAre("<<E=?", "b=true"));
  EXPECT_THAT(flags("cat <<< \"it's\"\nrun --a\n"), ElementsAre("a=true"));
}

TEST(ShellScript, ReadsQuotesInExpansions) {
  EXPECT_THAT(flags("X=$(echo \")\" | wc -l)\nY=\"${Z:-it's}\"\nrun --a \"$Y\" --b $X\n"),
              ElementsAre("a=it's", testing::EndsWith("?")));
}

TEST(ShellScript, RefusesWhatIsNotClosed) {
  EXPECT_THAT(flags("a\nrun 'x\n"), ElementsAre("run.sh: line 2: a quote (') is not closed"));
  EXPECT_THAT(flags("A=(1 2\n"), ElementsAre("run.sh: line 1: '(' is not closed"));
  EXPECT_THAT(flags("run ${A\n"), ElementsAre("run.sh: line 1: '{' is not closed"));
}

TEST(ShellScript, RefusesVariablesThatGrowWithoutEnd) {
  std::string text = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) text += "A=$A$A\n";
  EXPECT_THAT(flags(text), ElementsAre(testing::HasSubstr("expand to more than 1 MiB")));
}

TEST(ShellScript, RefusesDefaultsNestedTooDeeply) {
  std::string text = "run --a ";
  for (int i = 0; i < 40; ++i) text += "${X:-";
  text += std::string(40, '}');
  EXPECT_THAT(flags(text + "\n"), ElementsAre(testing::HasSubstr("nested too deeply")));
}

}  // namespace
}  // namespace orrery
