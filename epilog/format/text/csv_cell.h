// Cells of comma-separated values (RFC 4180).
//
// Spreadsheets take a cell that begins with = + - or @ for a formula and work it out; names come
// from programs. Such a cell gets an apostrophe before it, unless it is a number. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace kojak {

// Appends a cell: of a text what may be printed, in quotes where it needs them.
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace kojak
