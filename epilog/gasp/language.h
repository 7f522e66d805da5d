// What the compiler and the language tell once: numbers of events and flags, who this thread is,
// and whom a pointer-to-shared belongs to.
//
// Owned by the process; set by the first thread that begins, constant afterwards but for the names
// of the program's own events. What the language's functions
// tell GASP of themselves must be ignored (ask_language() in thread.h).
#pragma once

#include <string_view>

#include "epilog/format/upc_functions.h"
#include "epilog/gasp/front.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

enum class GaspEvent : std::uint8_t {
#define KOJAK_GASP_EVENT(Name, NAME, region) Name,
#include "epilog/gasp/events.def"
#undef KOJAK_GASP_EVENT
  kUser,
  kUnknown,
};
inline constexpr unsigned kNoUpcRegion = ~0u;
// The place in kUpcFunctions of what the event becomes.
unsigned region_of_event(GaspEvent event);

struct SharedPlace {
  int thread = -1;
  unsigned long long address = 0;
};

// Takes note of the language; false without memory.
bool learn_language(int model, const elg_gasp_language* language);
const elg_gasp_language* the_language();
// "GNU UPC"; its numbers tell.
const char* compiler_name();
// Whether gasp_init is called before there are shared variables: nothing can be exchanged there.
bool begins_before_memory();
// Collective operations and allocations; and whether all threads come to this event, each after as
// many of the kind.
bool moves_data_of_all(GaspEvent event);
bool allocates_for_all(GaspEvent event);
bool all_meet_in(GaspEvent event);
// Of a number of this compiler's. What is not of UPC's model is known by C functions and user
// events alone.
GaspEvent event_of(unsigned tag);
// What the flags of a collective operation are recorded as (kInNoSync ...).
std::uint8_t recorded_flags(int flags);
void name_user_event(unsigned tag, const char* name);
const char* user_event_name(unsigned tag);
// One property for each event that the compiler has, its name and version. From the first process.
void define_language(Recorder& r);

}  // namespace kojak::measure
