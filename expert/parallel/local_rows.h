// Pass 1 of a merge, and what it tells of the run's meetings: the rows of all processes (rows.h),
// and where each stands at each of its rows that is kept.
//
// Several processes may read the traces, each some of them: open(), and survey() in each; what all
// of these give is put together in each. Who chooses some of the meetings may tell the others what
// the traces gave, with the rows of those alone.
//
// Memory: that of pass 1, and for each process some megabytes at most: of many rows some are
// forgotten, those of the same meetings at all. Errors: those of the merge. Between its making and
// the next call there is no thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "expert/parallel/meetings.h"
#include "merge/two_passes.h"

namespace kojak::parallel {

// A process at the begin of a meeting's call.
struct StandingRow {
  Row row;
  std::vector<RowMaker::Around> open;
  std::vector<merge::Slice::Window> windows;  // as pass 1 numbered them
  std::optional<Processor> processor;         // the last one, as recorded
  std::uint64_t received = 0;                 // messages so far
  template <class Archive>
  void visit(Archive& archive) {
    archive(row, open, windows, processor, received);
  }
};

// What is kept of a trace.
struct TraceRows {
  RowTable rows;
  std::map<std::uint64_t, StandingRow> standings;  // by Row::ends
  std::string alone, not_added;                    // as of LocalRows, by this trace
  bool locks = false;                              // of one target
  double began = 0;                                // RowMaker::began
  void forget();                                   // standings of rows that are not kept any more
  template <class Archive>
  void visit(Archive& archive) {
    archive(rows, standings, alone, not_added, locks, began);
  }
};

// Of neighbouring traces, in their order, or of all: what pass 1 finds, and what is kept.
struct SurveyPart {
  std::vector<std::byte> found;  // merge::FoundInTrace
  std::vector<std::byte> rows;   // TraceRows
  merge::CodeNames::Found names;
  template <class Archive>
  void visit(Archive& archive) {
    archive(found, rows, names);
  }
};

class LocalRows {
 public:
  // `most_rows` of each process.
  static Result<LocalRows> of(const merge::MergeOptions& options,
                              std::size_t most_rows = RowTable::kMost);

  // In steps. Which traces there are.
  static Result<LocalRows> open(const merge::MergeOptions& options,
                                std::size_t most_rows = RowTable::kMost);
  SurveyPart survey(merge::TraceRange range);
  Status read();  // all
  // What others have read, too. `told_on`: chosen() follows.
  Status put_together(SurveyPart all, bool told_on);
  // All, but of the rows those of these meetings, which stay here, too. Once.
  SurveyPart chosen(const std::vector<Meeting>& meetings);

  LocalRows(LocalRows&&) noexcept;
  void forget();  // everything: nothing may be asked any more
  ~LocalRows();

  // Why there are none by what traces there are.
  std::string why_alone_by_files() const;
  // Why there are no meetings; empty if there may be some.
  const std::string& alone() const { return alone_; }
  // What of the records nobody can add up yet; empty if there is nothing.
  const std::string& not_added() const { return not_added_; }
  // At rest where a lock of all is held and no other is ever taken, if `held`.
  std::vector<Meeting> meetings(bool held) const;
  std::uint64_t bytes() const;  // as Meeting::bytes, of the whole run
  double began() const;         // corrected time of the run's first event
  merge::TwoPasses& merge() { return *passes_; }
  const merge::TwoPasses& merge() const { return *passes_; }

  // Of a process, by the offset of the record that ends the meeting's call.
  const StandingRow& at(std::size_t trace, std::uint64_t ends) const;
  // The last block that begins at an offset or before it.
  compact::BlockPlace block_before(std::size_t trace, std::uint64_t offset) const;
  // The merged number of a window that pass 1 numbered.
  std::uint32_t window(std::size_t trace, std::uint32_t number) const;

 private:
  class Watch;
  LocalRows();
  merge::Watches watches();
  void finish();
  std::string why_alone() const;

  std::vector<TraceRows> kept_;
  std::vector<std::unique_ptr<Watch>> watches_;  // of traces that are being read
  std::unique_ptr<merge::TwoPasses> passes_;
  std::vector<std::byte> found_;  // of all traces, where several have read them
  std::string alone_, not_added_;
};

// What another process told makes no sense.
Error cannot_be_read();

}  // namespace kojak::parallel
