// Text of a program, a trace or a report as one may print it.
//
// A terminal obeys control characters (also those of two bytes, U+0080 to U+009F), marks of the
// direction of writing rearrange the line that they stand in, and broken UTF-8 is taken for what
// the terminal likes. Names come from programs and files, so they may hold all of it. Pure
// functions; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kojak {

struct Character {
  std::string_view bytes;
  bool harmless;
};
// Takes the first character off a text that is not empty; of broken UTF-8 one byte.
Character take_character(std::string_view& text);

// The text with U+FFFD for each character that is not harmless. `lines`: line breaks stay.
std::string printable(std::string_view text, bool lines = false);

// The same in at most `width` characters, 0: any length. What is too long ends in "...", or, where
// the end is what matters, begins so: "... / exchange / MPI_Put".
std::string printable_name(std::string_view text, std::size_t width);
std::string printable_path(std::string_view text, std::size_t width);

}  // namespace kojak
