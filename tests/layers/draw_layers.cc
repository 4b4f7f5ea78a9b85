// draw_layers [ARCHITECTURE.md]: prints the drawing of tools/layers.txt, or puts it between the
// markers of the named page. Run from the repository root.
#include <fstream>
#include <iostream>

#include "layers/layer_rules.h"
#include "layers/source_tree.h"

int main(int argc, char** argv) {
  using namespace orrery::layers;  // NOLINT(google-build-using-namespace): a program of one screen
  const LayerRules rules = parse_layer_rules(read_text_file("tools/layers.txt"));
  for (const std::string& problem : rules.problems) {
    std::cerr << "tools/layers.txt: " << problem << "\n";
  }
  if (rules.order.empty() || !rules.problems.empty()) return 2;
  const std::string drawing =
      std::string(kDrawingBegin) + mermaid(rules) + std::string(kDrawingEnd);
  if (argc < 2) {
    std::cout << drawing;
    return 0;
  }
  std::string page = read_text_file(argv[1]);
  const std::size_t begin = page.find(kDrawingBegin);
  const std::size_t end = page.find(kDrawingEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    std::cerr << argv[1] << ": the markers of the drawing are missing; add these lines:\n"
              << kDrawingBegin << kDrawingEnd;
    return 2;
  }
  page.replace(begin, end + kDrawingEnd.size() - begin, drawing);
  std::ofstream(argv[1], std::ios::binary) << page;
  return 0;
}
