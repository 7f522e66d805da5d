// What a call that did not return waits for, in words: parts of the sentences of last_calls.h. Pure
// functions.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "epilog/format/record/types.h"
#include "expert/ends/last_calls.h"

namespace kojak::expert {

// " (tag 7)"; empty: of any.
std::string tagged(Tag tag);
// "a message from rank 3 (tag 7)".
std::string message_words(ProcessId source, Tag tag);
// "rank 3", "ranks 1, 2 and 5", "ranks 1, 2, 3, 4 and 60 more". `word`: what one is called.
std::string rank_words(const std::set<std::uint32_t>& ranks, const char* last_word = "and",
                       std::string_view word = "rank");

// What the call waits for, and whom.
void wait_for(LastCall& call, AwaitedThing thing, std::string what,
              const std::set<std::uint32_t>& ranks);

}  // namespace kojak::expert
