// Writes the definitions of a merged trace as global definitions of OTF2, when its events are
// written. Errors are the archive's. Source: OTF2_GlobalDefWriter.h.
#pragma once

#include <string_view>

#include "tools/elg2otf2/event_writer.h"

namespace kojak::otf2 {

// `listing`: the definitions as elg_print prints them, header first; they come back from it.
// `faults`: what is wrong with the trace, a line each.
void write_definitions(const Definitions& definitions, const Numbers& numbers,
                       const EventWriter& events, const std::vector<std::uint64_t>& counts,
                       std::string_view listing, const std::string& faults, ArchiveWriter& archive);

}  // namespace kojak::otf2
