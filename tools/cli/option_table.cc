#include "tools/cli/option_table.h"

#include <ostream>
#include <sstream>

namespace kojak::cli {
namespace {

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return line;
}

// "-o" of an option that is --output, too.
std::string short_name(const po::option_description& option) {
  const std::string shown =
      option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  return shown.size() == 2 && shown[0] == '-' ? shown : std::string();
}

// "FILE" of "FILE (=a.elg)"; "?INTERVAL" of "[=INTERVAL(=10ms)]".
std::string value_name(const po::option_description& option) {
  if (option.semantic()->max_tokens() == 0) return {};
  std::string text = option.format_parameter();
  if (text.starts_with("[=")) text = '?' + text.substr(2);
  return text.substr(0, text.find_first_of(" (["));
}

}  // namespace

void print_option_table(std::ostream& out, const ToolInfo& info,
                        const po::options_description& options) {
  out << "command\t" << info.name << '\t' << info.arguments << '\t' << one_line(info.purpose)
      << '\n';
  if (info.subcommands != nullptr) {
    std::istringstream names(info.subcommands);
    for (std::string name; names >> name;) out << "subcommand\t" << name << '\n';
  }
  for (const auto& option : options.options()) {
    out << "option\t--" << option->long_name() << '\t' << short_name(*option) << '\t'
        << value_name(*option) << '\t' << one_line(option->description()) << '\n';
  }
}

}  // namespace kojak::cli
