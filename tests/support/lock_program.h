// Random programs of lock epochs, simulated with a lock manager: local traces in text, and who
// really held which lock when.
//
// Origins lock targets of one window, exclusively or shared, transfer, maybe flush, and unlock. The
// manager serves requests in the order in which they come. A lock call may return before the lock
// is held; a flush with something to flush returns after; an unlock, too. Clocks may be off. The
// same seed gives the same program. Values own all they hold; no global state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kojak::support {

struct LockProgram {
  struct Epoch {
    std::uint32_t origin = 0, target = 0;
    bool exclusive = false, nocheck = false;
    double enter = 0, proof = 0, unlock_enter = 0, unlock_exit = 0;  // as recorded
    double held = 0, released = 0;                                   // true times
    std::vector<std::uint32_t> puts, gets;                           // numbers
  };
  std::vector<std::string> traces;  // by rank
  std::vector<Epoch> epochs;        // of each origin in its order
};

// `error`: clocks are off by up to so many seconds.
LockProgram lock_program(std::uint64_t seed, double error);

}  // namespace kojak::support
