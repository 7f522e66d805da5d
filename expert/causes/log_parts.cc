#include "expert/causes/log_parts.h"

#include <algorithm>
#include <cstring>

#include "expert/causes/solve/sort_by.h"

namespace kojak::expert {
namespace {

using Of = CauseLogPiece::Of;

template <class T>
std::uint64_t end_of(const LogVector<T>& all, std::uint64_t end, std::uint64_t T::*pos) {
  for (const T& one : all) end = std::max(end, one.*pos + 1);
  return end;
}

}  // namespace

CauseLogTables::CauseLogTables(CauseLog& log)
    : places(log.places),
      groups_told(log.groups.size()),
      dependencies(log.dependencies.size()),
      start(log.start.value),
      not_listed(log.not_listed),
      full(log.full),
      begins_in_library(log.begins_in_library) {
  for (StretchId s = 0; s < log.stretches.size(); ++s) stretches.push_back(log.stretches[s]);
  for (CommonMoments::GroupId g = 0; g < log.moments.size(); ++g) {
    groups.push_back(log.moments.members(g));
  }
  for (const Timeline& timeline : log.timelines) placed.push_back(timeline.all_placed() ? 1 : 0);
  waits.assign(log.stages.begin(), log.stages.end());
  waits.push_back(log.waits.size());
  end = end_of(log.calls, 0, &DependentCall::exit_pos);
  end = end_of(log.groups, end, &CauseLog::Group::first_exit_pos);
}

template <class T>
bool CauseLogPieces::take(const T* data, std::size_t size, CauseLogPiece& piece) {
  const std::size_t count = std::min(size - next_, std::max<std::size_t>(bytes_ / sizeof(T), 1));
  if (count == 0) {
    next_ = 0;
    return false;
  }
  piece.first = next_;
  piece.bytes.resize(count * sizeof(T));
  std::memcpy(piece.bytes.data(), data + next_, piece.bytes.size());
  next_ += count;
  return true;
}

CauseLogPiece CauseLogPieces::next() {
  CauseLogPiece piece;
  const auto take_all = [&](const auto& all) { return take(all.data(), all.size(), piece); };
  const auto take_next = [&] {
    switch (of_) {
      case Of::kTimeline:
        for (; location_ < log_.timelines.size(); ++location_) {
          piece.location = static_cast<std::uint32_t>(location_);
          if (take_all(log_.timelines[location_].pieces())) return true;
        }
        return false;
      case Of::kGroups:
        return take_all(log_.groups);
      case Of::kPresences:
        return take_all(log_.presences);
      case Of::kCalls:
        return take_all(log_.calls);
      case Of::kDependencies:
        return take_all(log_.dependencies);
      case Of::kSamples:
        return take_all(log_.samples);
      case Of::kLateEnders:
        return take_all(log_.late_enders);
      case Of::kWaits:
        return take_all(log_.waits);
      case Of::kEnd:
        break;
    }
    return true;
  };
  while (!take_next()) of_ = static_cast<Of>(static_cast<int>(of_) + 1);
  piece.of = of_;
  return piece;
}

void JoinedCauseLog::expect(CauseLogTables tables, std::vector<CallPathIndex> paths) {
  parts_.push_back({.tables = std::move(tables), .paths = std::move(paths)});
}

std::string JoinedCauseLog::begin(std::size_t most) {
  std::uint64_t waits = 0, groups = 0, dependencies = 0;
  std::size_t stages = 0;
  for (const Part& part : parts_) {
    const CauseLogTables& of = part.tables;
    if (of.begins_in_library)
      return "it was to be cut in a library, and root causes are looked for";
    if (of.start != log_.start.value || of.placed.size() != log_.timelines.size() ||
        of.waits.empty() || !std::is_sorted(of.waits.begin(), of.waits.end())) {
      return "its processes do not agree when it began";
    }
    groups += of.groups_told;
    dependencies += of.dependencies;
    stages = std::max(stages, of.waits.size());
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (Part& part : parts_) {
      const std::vector<std::uint64_t>& ends = part.tables.waits;
      part.waits.push_back(waits);
      if (stage >= ends.size()) continue;
      waits += ends[stage] - (stage == 0 ? 0 : ends[stage - 1]);
    }
  }
  const auto full = [](const Part& part) { return part.tables.full; };
  if (std::any_of(parts_.begin(), parts_.end(), full) ||
      std::max({waits, groups, dependencies}) >= most) {
    return "it has more waits than can be numbered";
  }
  log_.waits.resize(waits);
  return "";
}

bool JoinedCauseLog::open(Part& part) {
  opened_ = true;
  const auto here = [&](CallPathIndex path) {
    return path < part.paths.size() ? part.paths[path] : kNoCallPath;
  };
  Stretches& all = log_.stretches;
  for (const Stretch& s : part.tables.stretches) {
    StretchId number = Stretches::kBeforeRecording;
    const bool of_path = s.kind == Stretch::Kind::kCall || s.kind == Stretch::Kind::kOverhead;
    if (of_path && here(s.path) == kNoCallPath) return false;
    switch (s.kind) {
      case Stretch::Kind::kBeforeRecording:
        break;
      case Stretch::Kind::kComputing:
        number = all.computing(here(s.path), here(s.before), here(s.after));
        break;
      case Stretch::Kind::kCall:
        number = all.call(here(s.path));
        break;
      case Stretch::Kind::kOverhead:
        number = all.overhead(here(s.path));
        break;
      case Stretch::Kind::kStarting:
        number = all.starting(here(s.path));
        break;
      case Stretch::Kind::kAnswering:
        number = all.answering(here(s.path), s.whom);
        break;
    }
    part.stretches.push_back(number);
  }
  for (CauseLog::WaitPlace place : part.tables.places) {
    place.call_path = here(place.call_path);
    part.places.push_back(static_cast<std::uint32_t>(log_.places.size()));
    log_.places.push_back(place);
  }
  for (const auto& members : part.tables.groups) part.groups.push_back(log_.moments.group(members));
  for (std::size_t l = 0; l < part.tables.placed.size(); ++l) {
    if (part.tables.placed[l] == 0) log_.timelines[l].needs_carving();
  }
  part.presences = log_.presences.size();
  part.dependencies = log_.dependencies.size();
  for (std::size_t before = 0; before < at_; ++before) part.before += parts_[before].tables.end;
  log_.not_listed += part.tables.not_listed;
  return true;
}

bool JoinedCauseLog::number(Part& part, WaitId& wait) const {
  if (wait == kNoWait) return true;
  const std::vector<std::uint64_t>& ends = part.tables.waits;
  const auto stage = std::upper_bound(ends.begin(), ends.end(), std::uint64_t{wait});
  if (stage == ends.end()) return false;
  const auto s = static_cast<std::size_t>(stage - ends.begin());
  wait = static_cast<WaitId>(part.waits[s] + wait - (s == 0 ? 0 : ends[s - 1]));
  return true;
}

// add(value): whether that is one.
template <class T, class F>
bool JoinedCauseLog::each(const CauseLogPiece& piece, F&& add) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (piece.bytes.size() % sizeof(T) != 0) return false;
  for (std::size_t at = 0; at < piece.bytes.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, piece.bytes.data() + at, sizeof value);
    if (!add(value)) return false;
  }
  log_.memory.rest();
  return true;
}

bool JoinedCauseLog::add(const CauseLogPiece& piece) {
  if (at_ >= parts_.size()) return false;
  Part& part = parts_[at_];
  if (!opened_ && !open(part)) return false;
  switch (piece.of) {
    case Of::kTimeline: {
      if (piece.location >= log_.timelines.size()) return false;
      std::vector<Piece> pieces;
      pieces.reserve(piece.bytes.size() / sizeof(Piece));
      const bool good = each<Piece>(piece, [&](Piece& p) {
        if (p.stretch >= part.stretches.size()) return false;
        p.stretch = part.stretches[p.stretch];
        pieces.push_back(p);
        return number(part, pieces.back().wait);
      });
      if (good) log_.timelines[piece.location].go_on_with(pieces);
      return good;
    }
    case Of::kGroups:
      return each<CauseLog::Group>(piece, [&](CauseLog::Group& g) {
        if (g.id >= part.groups.size()) return false;
        g.id = part.groups[g.id];
        g.first_exit_pos += part.before;
        g.first += part.presences;
        log_.groups.push_back(g);
        WaitId& first = log_.groups.back().first_wait;
        const WaitId count = g.waits_end - g.first_wait;
        const bool good = !g.waited || number(part, first);
        log_.groups.back().waits_end = first + count;
        return good;
      });
    case Of::kPresences:
      return each<CauseLog::Presence>(piece, [&](const CauseLog::Presence& p) {
        log_.presences.push_back(p);
        return true;
      });
    case Of::kCalls:
      return each<DependentCall>(piece, [&](DependentCall& call) {
        call.exit_pos += part.before;
        call.first += static_cast<std::uint32_t>(part.dependencies);
        log_.calls.push_back(call);
        return true;
      });
    case Of::kDependencies:
      return each<Dependency>(piece, [&](const Dependency& on) {
        log_.dependencies.push_back(on);
        return true;
      });
    case Of::kSamples:
      return each<CauseLog::SampleRecord>(piece, [&](const CauseLog::SampleRecord& sample) {
        log_.samples.push_back(sample);
        return true;
      });
    case Of::kLateEnders:
      return each<CauseLog::LateEnder>(piece, [&](CauseLog::LateEnder& late) {
        log_.late_enders.push_back(late);
        return number(part, log_.late_enders.back().wait);
      });
    case Of::kWaits: {
      WaitId next = static_cast<WaitId>(piece.first);
      return each<CauseLog::WaitRecord>(piece, [&](CauseLog::WaitRecord& wait) {
        WaitId to = next++;
        if (wait.place >= part.places.size() || !number(part, to)) return false;
        wait.place = part.places[wait.place];
        log_.waits[to] = wait;
        return true;
      });
    }
    case Of::kEnd:
      ++at_;
      opened_ = false;
      return true;
  }
  return false;
}

void JoinedCauseLog::finish() {
  sort_by(log_.late_enders, [](const CauseLog::LateEnder& late) { return late.wait; });
}

}  // namespace kojak::expert
