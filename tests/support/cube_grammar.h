// Holds a report against the grammar by which CUBE's own readers go.
//
// Those readers are no XML parsers: they know tokens, and the order in which they come. An element
// has a start tag and an end tag, `<url></url>` too, and only <attr/> and <dim/> are closed in
// themselves. Whatever an XML parser would also accept (comments, other blanks, single quotes, text
// between elements, attributes in another order) is an error here, and so is what the readers check
// while they go: numbers that are none, identifiers that do not run from 0 in document order,
// references to nothing, rows that are too long, places outside of their grid, a program without
// functions. CUBE's algebra would mix up siblings that are the same to it, so there may be none.
// Shares no code with writer and reader. Plain and gzip files.
#pragma once

#include <string>

namespace kojak::support {

// Empty if all is well, else "FILE:LINE: what is wrong".
std::string check_cube_grammar(const std::string& path);

}  // namespace kojak::support
