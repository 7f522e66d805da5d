#include "expert/ends/awaited_words.h"

#include <utility>

namespace kojak::expert {

std::string tagged(Tag tag) {
  return is_absent(tag) ? std::string() : " (tag " + std::to_string(raw(tag)) + ")";
}

std::string message_words(ProcessId source, Tag tag) {
  return "a message from " +
         (is_absent(source) ? "any rank" : "rank " + std::to_string(raw(source))) + tagged(tag);
}

std::string rank_words(const std::set<std::uint32_t>& ranks, const char* last_word,
                       std::string_view word) {
  constexpr std::size_t kNamed = 8;
  std::string text = std::string(word) + (ranks.size() == 1 ? " " : "s ");
  std::size_t named = 0;
  for (const std::uint32_t rank : ranks) {
    if (named == kNamed && ranks.size() > kNamed + 1) {
      return text + ' ' + last_word + ' ' + std::to_string(ranks.size() - named) + " more";
    }
    if (named != 0) text += named + 1 == ranks.size() ? std::string(" ") + last_word + " " : ", ";
    text += std::to_string(rank);
    ++named;
  }
  return text;
}

void wait_for(LastCall& call, AwaitedThing thing, std::string what,
              const std::set<std::uint32_t>& ranks) {
  call.thing = thing;
  call.awaits = std::move(what);
  call.ranks.assign(ranks.begin(), ranks.end());
}

}  // namespace kojak::expert
