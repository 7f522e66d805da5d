// Which lines of a file a card shows, and what each of them is: the function that computes, or what
// lies between two calls, also from the end of a loop to its begin.
//
// Blocks are found by counting braces (C, C++), by do ... end do (Fortran) and by indentation
// (Python), outside of comments and strings; where none is found only what is known is shown. Pure
// functions; nothing fails; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expert/page/verdict/verdict_part.h"

namespace kojak::html {

struct ExcerptRow {
  long line = 0;     // from 1; 0: a place where lines are left out, or a loop goes round
  std::string mark;  // "hot", "inside", "call"; empty: stands beside it
  std::string note;  // "67 %", "after this", "round the loop"
};

inline constexpr long kLongestExcerpt = 25;

// How the blocks of a file are written.
enum class Blocks : std::uint8_t { kBraces, kFortran, kPython };

// `text`: all lines of the file.
std::vector<ExcerptRow> excerpt_of(const std::vector<std::string>& text, const ExcerptLines& lines,
                                   Blocks blocks);

}  // namespace kojak::html
