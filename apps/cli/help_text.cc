#include "help_text.h"

#include <string>

#include "command.h"
#include "report/drawing/text_style.h"

namespace orrery::cli {
namespace {

class HelpText : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return beside("  " + make_option_name(option, is_positional) + make_option_opts(option),
                  make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return beside("  " + command->get_name(), command->get_description());
  }

 private:
  // A name that reaches into the column of descriptions has a line of its own.
  [[nodiscard]] std::string beside(std::string name, const std::string& description) const {
    const std::size_t column = get_column_width();
    const std::string lines = wrapped(description, static_cast<int>(column), text_style());
    if (name.size() >= column || lines.empty()) return name + "\n" + lines;
    name.resize(column, ' ');
    return name + lines.substr(column);
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_text() { return std::make_shared<HelpText>(); }

}  // namespace orrery::cli
