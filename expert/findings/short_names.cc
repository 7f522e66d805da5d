#include "expert/findings/short_names.h"

#include <algorithm>
#include <vector>

#include "epilog/format/text/printable.h"

namespace kojak::expert {
namespace {

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const Character c = take_character(text);
    all.emplace_back(c.harmless ? std::string(c.bytes) : std::string("\xEF\xBF\xBD"));
  }
  return all;
}

// The innermost template arguments that still say something become "...".
bool drop_arguments(std::string& name) {
  std::size_t open = std::string::npos;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool arrow = i > 0 && name[i] == '>' && name[i - 1] == '-';
    if (name[i] == '<') {
      open = i;
    } else if (name[i] == '>' && !arrow && open != std::string::npos) {
      const std::string_view inside(name.data() + open + 1, i - open - 1);
      const bool done = inside.find_first_not_of('.') == std::string_view::npos;
      if (!done) {
        name.replace(open + 1, i - open - 1, "...");
        return true;
      }
      open = std::string::npos;
    }
  }
  return false;
}

// "<<...>, ...>" is one "<...>", too.
bool join_arguments(std::string& name) {
  int depth = 0;
  std::size_t open = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' && depth++ == 0) open = i;
    if (name[i] == '>' && depth > 0 && --depth == 0) {
      const std::string inside = name.substr(open + 1, i - open - 1);
      if (inside == "...") continue;
      name.replace(open + 1, i - open - 1, "...");
      return true;
    }
  }
  return false;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return characters_of(text).size();
}

std::string cut_middle(std::string_view text, std::size_t room) {
  const std::vector<std::string> all = characters_of(text);
  std::string cut;
  if (all.size() <= room) {
    for (const std::string& c : all) cut += c;
    return cut;
  }
  constexpr std::size_t kDots = 3;
  const std::size_t kept = room > kDots ? room - kDots : 0;
  const std::size_t head = kept / 3;  // the end says more
  for (std::size_t i = 0; i < head; ++i) cut += all[i];
  cut += std::string(std::min(room, kDots), '.');
  for (std::size_t i = all.size() - (kept - head); i < all.size(); ++i) cut += all[i];
  return cut;
}

std::string shortened_name(std::string_view name, std::size_t room) {
  std::string text(name);
  while (width_of(text) > room && drop_arguments(text)) {
  }
  while (width_of(text) > room && join_arguments(text)) {
  }
  return cut_middle(text, room);
}

}  // namespace kojak::expert
