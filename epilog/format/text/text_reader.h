// Makes binary traces from their text form: what elg_print prints, and shorthands for test cases.
//
// A text that holds LAST_DEF is taken as it stands. In any other, definitions may be left out and
// names used instead; what is missing is then added:
//   EPILOG 1.9 big                  the header; without it, `EPILOG 2.0` in this machine's order
//   ENTER lid=0 time=0.5 region=MPI_Put            a region, its STRING and FILE; any rid= so
//   ENTER_CS lid=0 time=1 region=MPI_Put site="halo.c:118"     a call site; the caller is whatever
//                                                              region that location is in
//   REGION rid=3 rnid="name" fid="file.c"          a quoted string for any string, file or region
//   MPI_WINEXIT lid=1 time=2 group=[2,0] synex=1   the communicator object of a group (for cid=)
//   ENTER lid=3 time=1 region=main node=1          that location 3 is on node 1; without it, node 0
// Locations (process = number), nodes, the machine, communicator 0 (all processes) and windows (on
// communicator 0) are defined when used; NUM_EVENTS and LAST_DEF are added. Fields that may be left
// out: cid, wid, tag, sent, recvd, bytes, got, local (0), rlid (absent), metv (zeros), counts of
// lists that follow, and in definitions whatever has a harmless default. A text with LOCAL_RUN is a
// local trace: its own location only, identities that agree between texts using the same numbers,
// no NUM_EVENTS. `UNKNOWN type=200 body=[1,2]` is any record at all.
// Ownership: the result owns its bytes. Thread-safe. Errors name file, line and what is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/error.h"

namespace kojak {

// `name` stands in error messages.
Result<std::vector<std::byte>> text_to_trace(std::string_view text,
                                             const std::string& name = "text");

// The trace goes into a file.
Status text_to_trace_file(std::string_view text, const std::string& path,
                          const std::string& name = "text");

// The text of a whole binary trace, header first: the inverse.
Result<std::string> trace_to_text(const std::vector<std::byte>& trace,
                                  const std::string& name = "trace");

}  // namespace kojak
