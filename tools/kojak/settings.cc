#include "tools/kojak/settings.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "epilog/format/text/printable.h"
#include "tools/cli/cli.h"
#include "tools/cli/table.h"

namespace kojak::run {
namespace {

struct Setting {
  const char* name;
  const char* standard;
  const char* values;
  const char* doc;
};

constexpr Setting kSettings[] = {
#define KOJAK_SETTING(NAME, standard, values, doc) {#NAME, standard, values, doc},
#include "epilog/runtime/config_table.def"
#undef KOJAK_SETTING
    {"ELG_VT_MODE", "0", "0 or 1",
     "Read by elg_merge. 1: the basic model, in which transfers end at their own call."},
};

// Breaks a text into lines, with an indentation.
void print_wrapped(const std::string& text, std::size_t width) {
  constexpr std::size_t kIndent = 4;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) std::cout << std::string(kIndent, ' ') << line << '\n';
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (kIndent + line.size() + 1 + word.size() > width) flush();
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  flush();
}

}  // namespace

void print_settings(bool csv) {
  cli::Table table({{"name", cli::Align::kLeft},
                    {"default", cli::Align::kLeft},
                    {"now", cli::Align::kLeft},
                    {"values", cli::Align::kLeft},
                    {"meaning", cli::Align::kLeft}});
  for (const Setting& setting : kSettings) {
    const char* now = ::secure_getenv(setting.name);
    if (csv) {
      table.add(
          {setting.name, setting.standard, now != nullptr ? now : "", setting.values, setting.doc});
      continue;
    }
    std::cout << cli::bold(setting.name) << " = "
              << (now != nullptr              ? printable(now)
                  : *setting.standard != '\0' ? setting.standard
                                              : "(unset)")
              << (now != nullptr ? "" : "  (default)") << '\n';
    print_wrapped(std::string(setting.values) + ". " + setting.doc, cli::terminal_width());
  }
  if (csv) table.print_csv(std::cout);
}

}  // namespace kojak::run
