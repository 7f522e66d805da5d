// The tables of tables.def, packed into columns.
#pragma once

#include "expert/page/blob.h"
#include "expert/page/trace_content.h"

namespace kojak::html {

// Adds a table's columns; one for each table.
using AddTable = void (*)(Blob&, const TraceContent&);
void add_box(Blob& blob, const TraceContent& content);
void add_wait(Blob& blob, const TraceContent& content);
void add_band(Blob& blob, const TraceContent& content);
void add_message(Blob& blob, const TraceContent& content);
void add_transfer(Blob& blob, const TraceContent& content);
void add_fence(Blob& blob, const TraceContent& content);
void add_fenceMember(Blob& blob, const TraceContent& content);
void add_traffic(Blob& blob, const TraceContent& content);
void add_stripe(Blob& blob, const TraceContent& content);
void add_densityWaiting(Blob& blob, const TraceContent& content);
void add_densityMpi(Blob& blob, const TraceContent& content);

}  // namespace kojak::html
