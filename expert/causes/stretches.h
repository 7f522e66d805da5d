// What a process can be doing: the things that the cost of waiting is charged to.
//
// A stretch is the computing of one function between two MPI calls, or the calls of one call path,
// or time that no region covers, or the time that a thread takes to start in a parallel region, or
// what one that serves the others does for one of them.
// Numbers are dense, in order of first appearance. Memory: distinct stretches.
#pragma once

#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "expert/metrics/metric.h"
#include "expert/waits/library_calls.h"

namespace kojak::expert {

using StretchId = std::uint32_t;
struct Stretch {
  enum class Kind : std::uint8_t {
    kBeforeRecording,
    kComputing,  // in `path`, between the calls `before` and `after`
    kCall,       // in the call `path`, without its waiting
    kOverhead,   // of the measurement: no cause of anything
    kStarting,   // in the parallel region `path`, after its team was made
    kAnswering,  // `whom`, whose message it took in the call `path`
  };
  static constexpr std::size_t kKinds = 6;
  Kind kind = Kind::kBeforeRecording;
  CallPathIndex path = kNoCallPath;
  CallPathIndex before = kNoCallPath, after = kNoCallPath;  // none: the program's begin or end
  std::uint32_t whom = kNobody;
  // Computing is compared function by function, whatever calls stand around it; calls are compared
  // place by place.
  std::uint32_t function = 0;

  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;  // no location
  auto place() const { return std::tuple(path, before, after, whom); }
};

// The computing in `path` between two calls, as a key of tables.
struct Between {
  CallPathIndex path, before, after;
  bool operator==(const Between&) const = default;

  struct Hash {
    std::size_t operator()(const Between& b) const {
      std::uint64_t h = b.path * 0x9E3779B97F4A7C15u;
      h ^= (std::uint64_t{b.before} << 32 | b.after) + (h >> 29);
      return static_cast<std::size_t>((h ^ (h >> 32)) * 0xBF58476D1CE4E5B9u);
    }
  };
};

class Stretches {
 public:
  static constexpr StretchId kBeforeRecording = 0;

  Stretches() { add({}); }

  // What is done in `path` is compared with what is done in `as`. Before either is used.
  void compare_as(CallPathIndex path, CallPathIndex as) {
    if (path >= compared_as_.size()) compared_as_.resize(path + 1, kNoCallPath);
    compared_as_[path] = as;
  }

  // Of calls that come out of a library; before anything is told.
  void use(const LibraryCalls* library) { library_ = library; }
  const LibraryCalls& library() const { return *library_; }

  StretchId computing(CallPathIndex path, CallPathIndex before, CallPathIndex after) {
    const Between between{path, before, after};
    Recent& recent = recent_[Between::Hash{}(between) % kRecent];
    if (recent.between == between && recent.stretch != kBeforeRecording) return recent.stretch;
    recent = {between, look_up(between)};
    return recent.stretch;
  }
  StretchId call(CallPathIndex path) { return of_path(path, Stretch::Kind::kCall); }
  StretchId overhead(CallPathIndex path) { return of_path(path, Stretch::Kind::kOverhead); }

  StretchId starting(CallPathIndex path) {
    const auto [known, added] = starting_.try_emplace(path, size());
    return added ? add({.kind = Stretch::Kind::kStarting, .path = path}) : known->second;
  }

  // One that serves: kNobody, and it has nothing to do.
  StretchId answering(CallPathIndex path, std::uint32_t whom) {
    const auto [known, added] = answering_.try_emplace(std::uint64_t{path} << 32 | whom, size());
    if (!added) return known->second;
    return add({.kind = Stretch::Kind::kAnswering, .path = path, .whom = whom});
  }

  const Stretch& operator[](StretchId id) const { return all_[id]; }
  StretchId size() const { return static_cast<StretchId>(all_.size()); }
  std::uint32_t functions() const { return functions_count_; }

 private:
  // Most calls are those of a loop: their stretches need no look into the table.
  static constexpr std::size_t kRecent = 1024;
  struct Recent {
    Between between{};
    StretchId stretch = kBeforeRecording;
  };

  StretchId look_up(const Between& between) {
    const auto [known, added] = computing_.try_emplace(between, size());
    if (!added) return known->second;
    const auto [function, first] =
        functions_.try_emplace(compared_as(between.path), functions_count_);
    if (first) ++functions_count_;
    return add({.kind = Stretch::Kind::kComputing,
                .path = between.path,
                .before = between.before,
                .after = between.after,
                .function = function->second});
  }
  StretchId add(const Stretch& stretch) {
    all_.push_back(stretch);
    if (stretch.kind == Stretch::Kind::kCall) {
      const auto [call, first] = calls_.try_emplace(compared_as(stretch.path), functions_count_);
      if (first) ++functions_count_;
      all_.back().function = call->second;
    } else if (stretch.kind != Stretch::Kind::kComputing) {
      all_.back().function = functions_count_++;
    }
    return size() - 1;
  }
  CallPathIndex compared_as(CallPathIndex path) const {
    const bool other = path < compared_as_.size() && compared_as_[path] != kNoCallPath;
    return other ? compared_as_[path] : path;
  }
  StretchId of_path(CallPathIndex path, Stretch::Kind kind) {
    if (path >= by_path_.size()) by_path_.resize(path + 1, 0);
    if (by_path_[path] == 0) by_path_[path] = add({.kind = kind, .path = path});
    return by_path_[path];
  }

  inline static const LibraryCalls kNoLibrary;

  const LibraryCalls* library_ = &kNoLibrary;
  std::vector<Recent> recent_{kRecent};
  std::vector<Stretch> all_;
  std::vector<StretchId> by_path_;  // 0: none yet
  std::unordered_map<Between, StretchId, Between::Hash> computing_;
  std::unordered_map<CallPathIndex, StretchId> starting_;
  std::unordered_map<std::uint64_t, StretchId> answering_;
  std::vector<CallPathIndex> compared_as_;
  std::unordered_map<CallPathIndex, std::uint32_t> functions_, calls_;
  std::uint32_t functions_count_ = 0;
};

}  // namespace kojak::expert
