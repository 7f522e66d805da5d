// A trace's content as the page embeds it, within a budget of bytes.
//
// Calls merge further if that is needed to keep the budget; a sentence in the result says so.
// expert/page/web/src/trace.ts is the reader.
#pragma once

#include <cstddef>

#include "expert/page/page.h"
#include "expert/page/trace_content.h"
#include "expert/profile/model.h"

namespace kojak::html {

// `report` tells which of its locations each row is, by rank and thread.
PackedTrace pack_trace(TraceContent content, const cube::Report& report, std::size_t max_bytes);

}  // namespace kojak::html
