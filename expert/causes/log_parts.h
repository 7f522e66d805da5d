// The log of a part of a run in pieces, for another process; and the logs of all parts put together
// to the log of the run.
//
// A part begins, at each location, behind a call in which all waited for all, and ends with such a
// call. So nothing that a log tells of has one end in it and one behind it, and the log of the run
// is that of the parts, one behind the other; but waits that were told in a later stage of the
// analysis stand behind all of an earlier one. What results is equal to the log of one analysis of
// the whole run, but for the numbers of places and groups, on which nothing depends.
//
// Memory: that of the log of the run, and one piece. Not thread-safe; nothing fails.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expert/causes/log.h"

namespace kojak::expert {

// What is there once, before the pieces.
struct CauseLogTables {
  std::vector<Stretch> stretches;
  std::vector<CauseLog::WaitPlace> places;
  std::vector<std::vector<LocationIndex>> groups;  // members of each
  std::vector<std::uint8_t> placed;                // by location: all waits have their places
  // How many waits were told before each stage, and all; how many there are of the rest.
  std::vector<std::uint64_t> waits;
  std::uint64_t groups_told = 0, dependencies = 0;
  std::uint64_t end = 0;  // behind all numbers of events
  double start = 0;       // when the run began, as this part knows
  Amount not_listed = 0;
  bool full = false;  // some of it is left out
  bool begins_in_library = false;

  explicit CauseLogTables(CauseLog& log);
  CauseLogTables() = default;
  template <class Archive>
  void visit(Archive& archive) {
    archive(stretches, places, groups, placed, waits, groups_told, dependencies, end, start,
            not_listed, full, begins_in_library);
  }
};

// Some of one of the logs.
struct CauseLogPiece {
  enum class Of : std::uint8_t {
    kTimeline,
    kGroups,
    kPresences,
    kCalls,
    kDependencies,
    kSamples,
    kLateEnders,
    kWaits,
    kEnd  // nothing: there is no more
  };
  Of of{};
  std::uint32_t location = 0;  // kTimeline
  std::uint64_t first = 0;     // kWaits: the number of the first
  std::vector<std::byte> bytes;

  template <class Archive>
  void visit(Archive& archive) {
    archive(of, location, first, bytes);
  }
};

// Of a log that does not change any more: its pieces, one after the other.
class CauseLogPieces {
 public:
  static constexpr std::size_t kBytes = std::size_t{8} << 20;  // of a piece, at most

  explicit CauseLogPieces(const CauseLog& log, std::size_t bytes = kBytes)
      : log_(log), bytes_(bytes) {}
  CauseLogPiece next();

 private:
  template <class T>
  bool take(const T* data, std::size_t size, CauseLogPiece& piece);

  const CauseLog& log_;
  std::size_t bytes_;
  CauseLogPiece::Of of_{};
  std::size_t location_ = 0, next_ = 0;
};

// What puts them together.
class JoinedCauseLog {
 public:
  // `log`: empty, and begins when the run does.
  explicit JoinedCauseLog(CauseLog& log) : log_(log) {}

  // All parts, in their order. `paths`: of each of its call paths the number in the run.
  void expect(CauseLogTables tables, std::vector<CallPathIndex> paths);
  // Then: why they cannot be put together, if no more than `most` can be numbered; empty if they
  // can.
  std::string begin(std::size_t most);
  // Of the next part; false: it is none of it. The piece kEnd is its last one.
  bool add(const CauseLogPiece& piece);
  // After the last part's.
  void finish();

 private:
  struct Part {
    CauseLogTables tables;
    std::vector<CallPathIndex> paths;
    std::vector<std::uint64_t> waits;  // by stage: the number in the run of the first one
    std::vector<StretchId> stretches;  // numbers in the run
    std::vector<std::uint32_t> places;
    std::vector<CommonMoments::GroupId> groups;
    std::size_t presences = 0, dependencies = 0;  // that were there before
    std::uint64_t before = 0;                     // numbers of events of the parts before it
  };
  bool open(Part& part);
  bool number(Part& part, WaitId& wait) const;
  template <class T, class F>
  bool each(const CauseLogPiece& piece, F&& add);

  CauseLog& log_;
  std::vector<Part> parts_;
  std::size_t at_ = 0;
  bool opened_ = false;
};

}  // namespace kojak::expert
