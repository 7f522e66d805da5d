// Compares the three ways to read a trace: streaming with state sequences, random access, and the
// streaming pass of the analysis (Replay), which has its own implementation of pairing and epochs.
#pragma once

#include <random>
#include <string>

#include "earl/access/archive.h"
#include "earl/sequence/state_stream.h"
#include "tests/unit/earl_recorder.h"

namespace kojak::earl {

// Everything that can be asked of a state, as text. `lists`: also what takes long to write.
std::string describe(const sequence::State& state, const Trace& trace);

// Random access at `positions` random places (and both ends) gives what streaming gives: event,
// pointers, state.
void expect_same_access(const std::vector<std::byte>& bytes, unsigned seed, int positions);

// Pairs, transactions and finished epochs are those of the analysis; the trace must be valid.
void expect_same_analysis(const std::vector<std::byte>& bytes);

}  // namespace kojak::earl
