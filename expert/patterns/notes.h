// What the patterns themselves count for the table of findings.
//
// Constant data; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::expert {

enum class Note : std::uint8_t {
  kFenceDidNotSynchronise,
  kFileCallDidNotSynchronise,
  kTeamCallDidNotSynchronise,
  kProgressIsAsynchronous,  // windows and kinds of call where Wait for Progress claims nothing
  kCallsLeftOut,            // by the one-sided waits: too many were open
  kCount_,
};
inline constexpr std::size_t kNotes = static_cast<std::size_t>(Note::kCount_);

}  // namespace kojak::expert
