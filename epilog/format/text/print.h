// The text form of records: what elg_print writes and text_reader reads.
//
// One record a line, `NAME key=value ...`, keys and order as in the record list. Numbers are
// decimal, identities hexadecimal, doubles have 17 significant digits, the absent number is
// `absent`, texts are quoted with C escapes, arrays are [1,2,3], sets of ranks are bits with rank 0
// first. A record of unknown type, or too short for its type, is `UNKNOWN type=N body=[...]`. The
// first line of a listing is the header, `EPILOG 2.0 little`. Appends to a caller's string;
// thread-safe; cannot fail.
#pragma once

#include <string>
#include <string_view>

#include "epilog/format/record/codec.h"

namespace kojak {

// "EPILOG 1.9 big"
std::string print_header(const Dialect& dialect);

// Appends a record's text, without a newline. Returns nullptr, or the name of the field that the
// body is too short for.
const char* print_record(const RawRecord& record, const Dialect& dialect, std::string& out);

// Appends a text in quotes with C escapes, also for what a terminal would obey (printable.h);
// other bytes from 128 on stay as they are.
void print_quoted(std::string_view text, std::string& out);
// Appends a double with 17 significant digits, whatever the locale.
void print_double(double value, std::string& out);

}  // namespace kojak
