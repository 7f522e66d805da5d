// Compares the three ways to read a trace: streaming with state sequences, random access, and the
// streaming pass of the analysis (Replay), which has its own implementation of pairing and epochs.
#pragma once

#include <random>
#include <string>

#include "earl/access/archive.h"
#include "earl/index/state_stream.h"
#include "tests/unit/earl_recorder.h"

namespace kojak::earl {

// Everything that can be asked of a state, as text. `lists`: also what takes long to write.
std::string describe(const sequence::State& state, const Trace& trace);

// Random access at `positions` random places (and both ends) gives what streaming gives: event,
// pointers, state.
void expect_same_access(const std::vector<std::byte>& bytes, unsigned seed, int positions);

// Pairs, transactions and finished epochs are those of the analysis; the trace must be valid.
void expect_same_analysis(const std::vector<std::byte>& bytes);

// A text trace opened for random access; streaming it gives the same state after each event.
struct OpenedText {
  std::unique_ptr<Archive> archive;
  explicit OpenedText(const std::string& text) {
    auto bytes = text_to_trace(text);
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message());
    if (!bytes) return;
    const std::vector<std::byte> kept = *bytes;
    auto trace = Trace::from(memory_source(kept.data(), kept.size()), "streamed");
    auto made = Archive::from(std::move(*bytes), "text");
    EXPECT_TRUE(made);
    if (!made || !trace) return;
    archive = std::make_unique<Archive>(std::move(*made));
    sequence::StateStream stream(*trace);
    std::uint64_t streamed = 0;
    for (Event e; stream.next(e); ++streamed) {
      EXPECT_EQ(describe(stream.state(), *trace), describe(*after(e.pos), archive->trace()))
          << "after event " << e.pos;
    }
    EXPECT_EQ(streamed, archive->size());
  }
  std::unique_ptr<sequence::State> after(std::uint64_t pos) const { return archive->state(pos); }
};

}  // namespace kojak::earl
