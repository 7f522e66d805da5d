// Pass 1 over one local trace by itself, so that several can be read at a time.
//
// What is numbered over the whole run gets its number from whoever asks first, in the order of the
// traces. So this reading numbers nothing: it keeps the trace's definitions together with what its
// records asked for between them (Asked), and whoever puts the traces together does the same again
// (survey.cc). Until then its windows have numbers of their own, and what the trace itself says of
// an identifier is taken for what it will be in the run (LocalNames): so it is, but for damaged
// traces that give two windows one identity and the like, for which the reading is done again.
// Owns all it holds; memory grows with the trace's definitions and windows. A read that fails ends
// the trace early. One thread at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "merge/complete/epochs.h"
#include "merge/complete/survey.h"
#include "merge/complete/sync.h"
#include "merge/complete/trace_watch.h"
#include "merge/complete/walk.h"
#include "merge/define/definitions.h"
#include "merge/input/helpers.h"

namespace kojak::merge {

// Bytes read by all threads; only the one that made it tells.
class ReadSoFar {
 public:
  explicit ReadSoFar(const std::function<void(std::uint64_t)>& told) : told_(told) {}
  void add(std::uint64_t bytes) {
    const std::uint64_t all = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (told_ && std::this_thread::get_id() == teller_) told_(all);
  }

 private:
  const std::function<void(std::uint64_t)>& told_;
  const std::thread::id teller_ = std::this_thread::get_id();
  std::atomic<std::uint64_t> bytes_{0};
};

// The definitions of a trace, and between them what its other records were the first to ask for.
class Asked {
 public:
  void define(const RawRecord& record);
  template <Translated Id>
  void ask(Id id) {
    put(kind_of<Id>(), raw(id), {});
  }
  // Gives what was noted once more, in order: define(RawRecord), and ask(id) for each of the kinds
  // of Translated.
  template <class Define, class Ask>
  void replay(Define&& define, Ask&& ask) const;
  template <class Archive>
  void visit(Archive& archive) {
    archive(bytes_);
  }

 private:
  enum class Kind : std::uint8_t { kRecord, kRegion, kCallSite, kComm, kWindow };
  template <class Id>
  static constexpr Kind kind_of() {
    if constexpr (std::is_same_v<Id, RegionId>) return Kind::kRegion;
    if constexpr (std::is_same_v<Id, CallSiteId>) return Kind::kCallSite;
    if constexpr (std::is_same_v<Id, CommId>) return Kind::kComm;
    if constexpr (std::is_same_v<Id, WindowId>) return Kind::kWindow;
  }
  void put(Kind kind, std::uint64_t number, std::span<const std::byte> bytes);
  // Kind, number (the identifier; of a record its offset), length and type of the record, its body.
  std::vector<std::byte> bytes_;
};

// What the identifiers of a trace stand for, as far as its own definitions say so.
class LocalNames {
 public:
  explicit LocalNames(Asked& asked) : asked_(asked) {}
  void define(const RawRecord& record, const Dialect& dialect) {
    (void)definitions_.add(record, dialect);  // who replays it says what is wrong with it
  }
  // Windows are numbered as they are first asked for.
  std::uint32_t window(WindowId id);
  std::span<const std::uint32_t> members(CommId id);
  MpiRole role(RegionId id);
  MpiRole role(CallSiteId id);

  // Whether all that was said is so in the run.
  bool hold(const Translation& translation, const MergedDefinitions& definitions) const;
  // The merged windows, by the numbers that they had here.
  std::vector<std::uint32_t> windows(const Translation& translation) const;
  void forget_definitions() { definitions_ = {}; }
  // But the definitions.
  template <class Archive>
  void visit(Archive& archive) {
    archive(regions_, call_sites_, comms_, windows_);
  }

 private:
  // What was said of each, and where that stands; the first answer holds.
  template <class Id, class Answer>
  struct Said {
    IdMap places;
    std::vector<std::pair<Id, Answer>> answers;
    const Answer* find(Id id) const {
      const std::uint32_t place = places[raw(id)];
      return place == kAbsent ? nullptr : &answers[place].second;
    }
    const Answer& add(Id id, Answer answer) {
      places.set(raw(id), static_cast<std::uint32_t>(answers.size()));
      return answers.emplace_back(id, std::move(answer)).second;
    }
    template <class Archive>
    void visit(Archive& archive) {
      auto said = answers;
      archive(said);
      if (!Archive::kReads) return;
      answers.clear();
      for (auto& [id, answer] : said) add(id, std::move(answer));
    }
  };
  Asked& asked_;
  Definitions definitions_;
  Said<RegionId, MpiRole> regions_;
  Said<CallSiteId, MpiRole> call_sites_;
  Said<CommId, RankList> comms_;
  Said<WindowId, std::uint32_t> windows_;
};

// Follows the regions of one location, and moves the windows of its process unless it gets no
// epochs. A visitor of walk(); `Names` say what the identifiers in the records stand for.
template <class Names>
class Follower {
 public:
  Follower(Names& names, std::uint32_t processes, ProcessEpochs* epochs)
      : names_(names), processes_(processes), epochs_(epochs) {}

  std::size_t depth() const { return stack_.size(); }
  std::uint64_t unmatched() const { return unmatched_; }          // exits
  std::uint64_t unknown_roles() const { return unknown_roles_; }  // window calls in no MPI function

  // What walk() calls.
  void enter(std::uint32_t id, bool call_site) {
    stack_.push_back({id, call_site, true});
    // Only of a process with several threads, whose definitions are known by then.
    if constexpr (requires { names_.may_quiet(RegionId{id}); }) {
      if (epochs_ != nullptr && epochs_->several_threads() &&
          (call_site ? names_.may_quiet(CallSiteId{id}) : names_.may_quiet(RegionId{id}))) {
        stack_.back().quiet = epochs_->begin_quiet();
      }
    }
  }
  void open() { stack_.push_back({0, false, false}); }
  void pause() {
    open();
    if (epochs_ != nullptr) epochs_->pause();
  }
  void leave() {
    assertion_ = 0;
    if (stack_.empty()) {
      ++unmatched_;
    } else {
      stack_.pop_back();
    }
  }
  void assertion(std::uint32_t bits) { assertion_ = bits; }
  void sync(const RawRecord& record, const Dialect& dialect) {
    if (epochs_ == nullptr) return;
    Sync s;
    const bool moves = decode_sync(record, dialect, role(), assertion_, s);
    if (s.unknown_role) ++unknown_roles_;
    std::span<const std::uint32_t> members;
    if (!moves || !resolve_sync(s, names_, processes_, members)) return;
    apply_sync(epochs_->window(s.window, true), s, members, true);
  }

  void context(const RawRecord& record, const Dialect& dialect) {
    ContextUse use;
    if (epochs_ == nullptr || !decode_context(record, dialect, use)) return;
    if (use.window != kAbsent) epochs_->window(use.window, true);
    if (!use.quiet) return;
    const std::uint64_t begun = stack_.empty() ? kAllIssued : stack_.back().quiet;
    const std::uint64_t up_to = begun != kAllIssued ? begun : epochs_->begin_quiet();
    if (use.target != kAbsent && use.target >= processes_) return;
    const auto quiet = [&](std::uint32_t id) {
      epochs_->window(id, true).quiet(true, up_to, use.target, use.puts, use.gets);
    };
    if (use.window != kAbsent) return quiet(use.window);
    for (const std::uint32_t id : epochs_->contexts()) quiet(id);
  }

 private:
  MpiRole role() {
    if (stack_.empty() || !stack_.back().region) return MpiRole::kOther;
    const Open& open = stack_.back();
    return open.call_site ? names_.role(CallSiteId{open.id}) : names_.role(RegionId{open.id});
  }

  Names& names_;
  std::uint32_t processes_;
  ProcessEpochs* epochs_;
  // Local identifiers, since a definition may come later than the enter.
  struct Open {
    std::uint32_t id;
    bool call_site;
    bool region;
    std::uint64_t quiet = kAllIssued;  // what it completes if it quiets
  };
  std::vector<Open> stack_;
  std::uint32_t assertion_ = 0;
  std::uint64_t unmatched_ = 0, unknown_roles_ = 0;
};

// What the reading finds; of the facts those that need no other trace.
struct FoundInTrace {
  FoundInTrace() = default;
  virtual ~FoundInTrace() = default;
  FoundInTrace(const FoundInTrace&) = delete;
  FoundInTrace& operator=(const FoundInTrace&) = delete;

  ReadFacts facts;
  Asked asked;
  LocalNames names{asked};
  std::unique_ptr<ProcessEpochs> epochs;  // with windows as `names` number them
  std::uint64_t unmatched = 0, unknown_roles = 0, unknown_types = 0;
  std::string first_unknown_type;                         // where
  std::optional<std::pair<Finding, std::string>> damage;  // why it ended early, and where
  template <class Archive>
  void visit(Archive& archive) {
    bool follows = epochs != nullptr;
    archive(facts, asked, names, follows, unmatched, unknown_roles, unknown_types,
            first_unknown_type, damage);
    if (follows && epochs == nullptr) epochs = std::make_unique<ProcessEpochs>();
    if (follows) archive(*epochs);
  }
};

class TraceSurvey : public Helpers::Job, public FoundInTrace {
 public:
  // With the epochs of its process, where this is the process's only trace.
  TraceSurvey(FileCache& files, const LocalTrace& trace, std::uint32_t processes, bool with_epochs,
              TraceWatch* watch, ReadSoFar& read, Helpers& helpers)
      : files_(files),
        trace_(trace),
        processes_(processes),
        watch_(watch),
        read_(read),
        helpers_(helpers) {
    if (with_epochs) epochs = std::make_unique<ProcessEpochs>();
  }
  ~TraceSurvey() override { helpers_.drop(*this); }

 private:
  void run() override;
  void scan(LocalInput& input);
  void note_locks(std::uint8_t type);
  void note_poll_site(const RawRecord& record);
  void note_window_part(const RawRecord& record);
  template <class Poll>
  void note_polled_window(const RawRecord& record);
  FileCache& files_;
  const LocalTrace& trace_;
  std::uint32_t processes_;
  TraceWatch* watch_;
  ReadSoFar& read_;
  Helpers& helpers_;
  Dialect dialect_;
};

// Of traces sorted by rank and thread.
inline bool first_of_process(const std::vector<LocalTrace>& traces, std::size_t i) {
  return i == 0 || traces[i - 1].rank != traces[i].rank;
}
inline bool last_of_process(const std::vector<LocalTrace>& traces, std::size_t i) {
  return i + 1 == traces.size() || first_of_process(traces, i + 1);
}

// Some neighbours of a run's traces.
struct TraceRange {
  std::size_t first = 0, end = ~std::size_t{0};
};

// All traces in so many parts of about as many bytes; of few traces some parts have none.
std::vector<TraceRange> shares_of(const std::vector<LocalTrace>& traces, std::size_t n);

// Reads them side by side, a few ahead of who asks.
class TraceReadings {
 public:
  TraceReadings(const std::vector<LocalTrace>& traces, FileCache& files, Helpers& helpers,
                const std::function<void(std::uint64_t)>& progress, const Watches& watches,
                TraceRange range = {})
      : traces_(traces),
        files_(files),
        helpers_(helpers),
        watches_(watches),
        read_(progress),
        begun_(range.first),
        end_(std::min(range.end, traces.size())) {}
  // What the next one found; as many times as there are traces.
  std::unique_ptr<FoundInTrace> next();

 private:
  void begin(std::size_t trace);
  const std::vector<LocalTrace>& traces_;
  FileCache& files_;
  Helpers& helpers_;
  const Watches& watches_;
  ReadSoFar read_;
  std::size_t begun_, end_;
  std::deque<std::unique_ptr<TraceSurvey>> surveys_;  // begun and not given yet
};

template <class Define, class Ask>
void Asked::replay(Define&& define, Ask&& ask) const {
  const std::byte* p = bytes_.data();
  const std::byte* const end = p + bytes_.size();
  while (p != end) {
    const auto kind = static_cast<Kind>(*p);
    std::uint64_t number = 0;
    std::memcpy(&number, p + 1, 8);
    p += 9;
    const auto id = static_cast<std::uint32_t>(number);
    switch (kind) {
      case Kind::kRecord: {
        const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                               p + 2, number};
        define(record);
        p += std::size_t{2} + record.length;
        break;
      }
      case Kind::kRegion:
        ask(RegionId{id});
        break;
      case Kind::kCallSite:
        ask(CallSiteId{id});
        break;
      case Kind::kComm:
        ask(CommId{id});
        break;
      case Kind::kWindow:
        ask(WindowId{id});
        break;
    }
  }
}

}  // namespace kojak::merge
