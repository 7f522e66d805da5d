// The list of records as a page of documentation, from records.def.
//
// elg_print --list-records prints it, and docs/format.md holds it; a test compares the two.
#pragma once

#include <iosfwd>

namespace kojak {

// Markdown: one table for each kind of record.
void print_record_list(std::ostream& out);

}  // namespace kojak
