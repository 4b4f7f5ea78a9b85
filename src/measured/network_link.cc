#include "measured/network_link.h"

#include <cctype>
#include <charconv>
#include <vector>

#include "measured/run_convention.h"

namespace orrery {
namespace {

constexpr BytesPerSecond kGigabitPerSecond(1e9 / 8);
constexpr BytesPerSecond kGigabytePerSecond(1e9);

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// A number and the word that follows it: {8, "x"}, {400, "Gb/s"}.
struct Figure {
  double number = 0;
  std::string_view unit;
};

// Takes the next figure from the front of the text. Digits inside words ("ConnectX-7") are none.
std::optional<Figure> next_figure(std::string_view& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) continue;
    std::size_t end = i;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    Figure figure;
    const auto parsed = std::from_chars(text.data() + i, text.data() + end, figure.number);
    const bool inside_word =
        i > 0 && (text[i - 1] == '-' || (is_letter(text[i - 1]) && text[i - 1] != 'x'));
    if (inside_word || parsed.ec != std::errc()) {
      i = end - 1;
      continue;
    }
    std::size_t word = end;
    while (word < text.size() && text[word] == ' ') ++word;
    std::size_t stop = word;
    while (stop < text.size() && text[stop] != ' ' && !is_digit(text[stop])) ++stop;
    figure.unit = text.substr(word, stop - word);
    text.remove_prefix(end);
    return figure;
  }
  return std::nullopt;
}

// "Gb/s", "Gbps", "Gb/Sec" and "Gb" are bits, "GB/s" is bytes.
std::optional<BytesPerSecond> unit_of_rate(std::string_view unit) {
  if (unit.starts_with("Gb")) return kGigabitPerSecond;
  if (unit.starts_with("GB/")) return kGigabytePerSecond;
  return std::nullopt;
}

std::string fabric_of(const std::string& text, BytesPerSecond card) {
  for (const NetworkName& name : network_names()) {
    const bool named = text.find(name.says) != std::string::npos;
    if (named && (!name.card || *name.card == card)) return name.fabric;
  }
  return "";
}

// The network whose links a text may count without stating their rate.
const NetworkName* counted_links(std::string_view text) {
  for (const NetworkName& name : network_names()) {
    if (name.link && text.find(name.says) != std::string_view::npos) return &name;
  }
  return nullptr;
}

constexpr std::string_view kCompute = "Compute:";

// A text names several networks one after the other.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool ends =
        i == text.size() || text[i] == ',' || text[i] == ';' || text.substr(i, 3) == " + ";
    if (!ends) continue;
    out.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return out;
}

// Carries files or commands, or joins accelerators of one node: not the network between nodes.
bool is_another_network(std::string_view part) {
  const std::string words = lower(part);
  const std::size_t first = words.find_first_not_of(' ');
  const std::string_view rest = std::string_view(words).substr(std::min(first, words.size()));
  return rest.starts_with("storage") || rest.starts_with("management") ||
         rest.find("nvlink") != std::string_view::npos ||
         rest.find("gpu-pcie") != std::string_view::npos;
}

// The link that one part states; `all` words of the text name technology and sharer where the part
// does not.
std::optional<NetworkLink> link_of(std::string_view text, const std::string& all) {
  const std::string words = lower(text);

  std::optional<double> count;
  std::optional<BytesPerSecond> rate;
  std::string_view rest = text;
  while (const auto figure = next_figure(rest)) {
    if (const auto unit = unit_of_rate(figure->unit)) {
      if (!rate) rate = figure->number * *unit;
    } else if (!count && (figure->unit == "x" || counted_links(lower(figure->unit)) != nullptr)) {
      count = figure->number;
    }
  }
  if (const NetworkName* links = counted_links(words); count && !rate && links != nullptr) {
    rate = links->link;
  }
  if (!rate || rate->value() <= 0 || (count && *count <= 0)) return std::nullopt;

  NetworkLink link;
  if (all.find("per gpu") != std::string::npos) {
    link.accelerator = *rate;
    link.card = *rate;
  } else if (count) {
    link.node = *count * *rate;
    link.card = *rate;
  } else {
    link.node = *rate;
  }
  link.fabric = fabric_of(words, link.card);
  if (link.fabric.empty()) link.fabric = fabric_of(all, link.card);
  return link;
}

// What a node of eight has of it, to compare networks of one text.
BytesPerSecond total_of(const NetworkLink& link) { return link.node + 8.0 * link.accelerator; }

}  // namespace

bool is_single_node(std::string_view text) {
  const std::string t = lower(text);
  return t == "single node" || t == "single server";
}

std::optional<NetworkLink> network_link(std::string_view text) {
  const std::string words = lower(text);
  const bool labelled = text.find(kCompute) != std::string_view::npos;
  std::optional<NetworkLink> best;
  for (const std::string_view part : parts_of(text)) {
    if (labelled ? part.find(kCompute) == std::string_view::npos : is_another_network(part)) {
      continue;
    }
    const auto link = link_of(part, words);
    if (link && (!best || total_of(*link) > total_of(*best))) best = link;
  }
  return best;
}

}  // namespace orrery
