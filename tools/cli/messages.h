// Prints the messages of a library on standard error: warnings as warnings, all others as notes.
#pragma once

#include <type_traits>

#include "tools/cli/cli.h"

namespace kojak::cli {

// Any list of messages that have a `severity` with the value kWarning, and a `text`.
template <class Messages>
void print_messages(const Messages& messages) {
  for (const auto& message : messages) {
    using Severity = std::remove_cvref_t<decltype(message.severity)>;
    message.severity == Severity::kWarning ? print_warning(message.text) : print_note(message.text);
  }
}

}  // namespace kojak::cli
