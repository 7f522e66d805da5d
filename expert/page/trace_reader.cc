// Long because what the page keeps of every callback of the replay stands here, in a few lines
// each.
#include "expert/page/trace_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "earl/trace.h"
#include "epilog/format/service.h"
#include "expert/metrics/time_class.h"
#include "expert/page/clock.h"
#include "expert/page/condense.h"
#include "expert/page/density.h"
#include "expert/page/sample.h"
#include "expert/page/thin.h"
#include "expert/page/transfer_arrows.h"
#include "expert/patterns/catalogue.h"

namespace kojak::html {
namespace {

// What the analysis' pass tells.
class Content {
 public:
  Content(earl::Trace& trace, const TraceLimits& limits, TraceContent& out)
      : trace_(trace),
        limits_(limits),
        out_(out),
        transfers_(limits.arrows),
        messages_(limits.arrows),
        fences_(
            std::max<std::size_t>(limits.fence_members / std::max(trace.process_count(), 1U), 1)),
        density_(trace.location_count(), limits.cells),
        open_(trace.location_count()),
        processor_(trace.location_count()) {
    out_.boxes.resize(trace.location_count());
    out_.waits.resize(trace.location_count());
    out_.bands.resize(trace.location_count());
    out_.stripes.resize(trace.location_count());
    out_.processes = trace.process_count();
    list_regions();
    list_communicators();
    trace.definitions().windows.for_each([&](WindowId id, const WindowDef&) { window(raw(id)); });
  }

  void on_begin(Seconds first) { clock_.begin = out_.begin = first.value; }
  void on_end(Seconds last) { out_.end = last.value; }

  void on_enter(const earl::OpenCall& call) {
    std::vector<Box>& boxes = out_.boxes[call.index];
    open_[call.index].push_back(boxes.size());
    boxes.push_back({clock_(call.enter), kOpen, path(call), 1});
    if (++boxes_ > 2 * limits_.boxes) condense_boxes(limits_.boxes);
  }
  void on_call(const earl::Call& call) {
    const Nanoseconds begin = clock_(call.enter), end = clock_(call.exit);
    std::vector<std::size_t>& open = open_[call.index];
    if (!open.empty()) {
      out_.boxes[call.index][open.back()].end = end;
      open.pop_back();
    }
    if (call.function != nullptr || (shmem_ && is_shmem(call.region)))
      density_.add_mpi(call.index, begin, end);
  }

  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
    constexpr double kSleeps = 0.1;
    const std::vector<std::size_t>& open = open_[call.index];
    if (open.empty()) return;
    const MpiPolled& polled = series.polled;
    Box& box = out_.boxes[call.index][open.back()];
    const std::uint64_t polls = raw(polled.count) + (series.alone() ? 0 : 1);
    box.calls = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(polls, 1, Box::kMostCalls)) &
                Box::kMostCalls;
    box.joined = 1;
    box.sleeping = polled.asleep.value > kSleeps * (polled.time - polled.begin).value;
  }

  void on_wait(const expert::Wait& wait) {
    if (expert::kPartOfPattern[wait.metric] || !(wait.begin < wait.end)) return;
    const WaitBox box{.begin = clock_(wait.begin),
                      .end = clock_(wait.end),
                      .waited = clock_.length(wait.waiting),
                      .metric = wait.metric,
                      .awaited = wait.ended_by.known() ? wait.ended_by.location : WaitBox::kNobody,
                      .ended = wait.ended_by.known() ? clock_(wait.ended_by.time) : 0,
                      .path = wait.call_path};
    if (box.waited == 0) return;
    const bool known = wait.ended_by.known();
    add_traffic(TrafficKind::kWait, raw(trace_.process(wait.location)),
                known ? raw(trace_.process(wait.ended_by.location)) : Traffic::kNone,
                wait.operation.object == expert::Operation::Object::kWindow
                    ? window(wait.operation.id)
                    : Traffic::kNone,
                region_of(wait.call_path), box.waited);
    density_.add_wait(wait.location, box.begin, box.end, box.waited);
    out_.waits[wait.location].push_back(box);
    if (++waits_ > 2 * limits_.waits) condense_waits();
  }

  // Of who serves: it waited for nobody.
  void on_moved(expert::CallPathIndex path, expert::LocationIndex location,
                expert::MetricIndex from, std::optional<expert::MetricIndex> to) {
    for (WaitBox& box : out_.waits[location]) {
      if (box.path != path || box.metric != from) continue;
      const bool known = box.awaited != WaitBox::kNobody;
      Traffic& sum = traffic_of(TrafficKind::kWait, raw(trace_.process(location)),
                                known ? raw(trace_.process(box.awaited)) : Traffic::kNone,
                                Traffic::kNone, region_of(path));
      sum.amount -= std::min(sum.amount, box.waited);
      sum.count -= std::min<std::uint64_t>(sum.count, box.waits);
      box.metric = to.value_or(from);
      box.awaited = WaitBox::kNobody;
      box.ended = 0;
      if (!to) box.waited = 0;
    }
    std::erase_if(out_.waits[location], [](const WaitBox& box) { return box.waited == 0; });
  }

  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times) {
    if (!times.wanted_known()) return;
    Reading& last = processor_[in.index];
    const Nanoseconds now = clock_(time);
    if (last.any && times.wanted > last.wanted) {
      out_.stripes[in.index].push_back({last.time, now, times.wanted - last.wanted});
      if (++stripes_ > 2 * limits_.stripes) pair_up_stripes();
    }
    last = {true, now, times.wanted};
  }

  void on_send(const earl::SendEvent& send) {
    add_traffic(TrafficKind::kMessage, raw(send.call->process), raw(send.destination),
                Traffic::kNone, region(send.call->region), raw(send.bytes));
  }
  void on_message_call(const earl::MessageCall& completed) {
    for (const earl::Message* message : completed.received) {
      const std::uint32_t to = trace_.index(message->recv_loc);
      if (to == kAbsent) continue;
      messages_.add({message->send_call.index, to, clock_(message->send_time),
                     clock_(message->recv_time), raw(message->bytes)});
    }
  }

  void on_transfer(const earl::Transfer& transfer) {
    const std::uint32_t origin = raw(transfer.origin), target = raw(transfer.target);
    const std::uint32_t on = window(raw(transfer.window));
    add_traffic(transfer.get ? TrafficKind::kGet : TrafficKind::kPut,
                transfer.get ? target : origin, transfer.get ? origin : target, on,
                region(transfer.call->region), raw(transfer.bytes));
    const std::uint32_t row = trace_.main_index(transfer.target);
    if (row == kAbsent || !transfers_.begin(transfer.origin, transfer.rmaid)) return;
    const bool shmem = is_absent(transfer.window);
    const TransferArrow arrow{.get = transfer.get,
                              .passive = shmem || transfer.epoch == earl::EpochKind::kLock ||
                                         transfer.epoch == earl::EpochKind::kLockAll,
                              .origin = transfer.call->index,
                              .target = row,
                              .window = on,
                              .bytes = raw(transfer.bytes),
                              .request = clock_(transfer.requested),
                              .start = clock_(transfer.time)};
    const TransferArrows::Epoch epoch{origin, on, transfer.epoch};
    transfers_.add(transfer.origin, transfer.rmaid, arrow, shmem ? nullptr : &epoch);
  }
  void on_transfer_end(const earl::TransferEnd& end) {
    transfers_.end(end.origin, end.rmaid, clock_(end.time));
  }

  void on_fence_epoch(const earl::FenceEpoch& epoch) {
    const std::uint32_t process = raw(epoch.call->process);
    const std::uint32_t on = window(raw(epoch.window));
    Nanoseconds& last = last_fence_[{process, on}];
    if (epoch.ordinal > 0 && last > 0) {
      add_band(epoch.call->index, {last, clock_(epoch.call->exit), on, BandKind::kFence});
    }
    last = clock_(epoch.call->exit);
    transfers_.fence({process, on, earl::EpochKind::kFence}, epoch.ordinal, sync(*epoch.call));
  }
  void on_window_collective(const earl::WindowInstance& instance) {
    if (instance.role != MpiRole::kWinFence) return;
    const std::uint32_t on = window(raw(instance.window));
    const bool asked = transfers_.waits_for_fence(on, instance.ordinal);
    if (!asked && fences_.skip()) return;
    FenceInstance fence;
    fence.window = on;
    for (const earl::WindowMember& member : instance.members) {
      fence.rows.push_back(member.call.index);
      fence.enters.push_back(clock_(member.call.enter));
      fence.exits.push_back(clock_(member.call.exit));
    }
    if (asked) transfers_.fence_complete(fence, instance.ordinal);
    fences_.add(std::move(fence));
  }

  void on_access_epoch(const earl::AccessEpoch& epoch) {
    const std::uint32_t on = window(raw(epoch.window));
    if (epoch.has_start && epoch.has_finish) {
      add_band(epoch.finish.index,
               {clock_(epoch.start.enter), clock_(epoch.finish.exit), on, BandKind::kAccess});
    }
    transfers_.access({raw(epoch.origin), on, earl::EpochKind::kAccess}, epoch.finish.exit_pos,
                      sync(epoch.finish));
  }
  void on_access_transaction(const earl::AccessEpoch& epoch) {
    transfers_.access_complete(epoch.finish.exit_pos, [&](std::uint32_t row) {
      Nanoseconds exit = 0;
      for (const earl::AccessTarget& target : epoch.targets) {
        const earl::ExposureEpoch* exposure = target.exposure;
        if (exposure == nullptr || !exposure->has_finish) continue;
        if (trace_.main_index(target.target) == row) exit = clock_(exposure->finish.exit);
      }
      return exit;
    });
  }
  void on_exposure_transaction(const earl::ExposureEpoch& epoch) {
    if (!epoch.has_post || !epoch.has_finish) return;
    add_band(epoch.finish.index, {clock_(epoch.post.enter), clock_(epoch.finish.exit),
                                  window(raw(epoch.window)), BandKind::kExposure});
  }
  void on_passive_epoch(const earl::PassiveEpoch& epoch) {
    if (!epoch.has_lock || !epoch.has_unlock) return;
    const std::uint32_t on = window(raw(epoch.window));
    const BandKind kind = epoch.all         ? BandKind::kLockAll
                          : epoch.exclusive ? BandKind::kExclusive
                                            : BandKind::kShared;
    add_band(epoch.unlock.index, {clock_(epoch.lock.enter), clock_(epoch.unlock.exit), on, kind});
    transfers_.passive(
        {raw(epoch.origin), on, epoch.all ? earl::EpochKind::kLockAll : earl::EpochKind::kLock},
        epoch.all, epoch.all ? kAbsent : trace_.main_index(epoch.target), sync(epoch.unlock));
  }

  void finish() {
    condense_waits();
    condense_boxes(limits_.boxes);
    for (auto& boxes : out_.boxes) {
      for (Box& box : boxes) {
        if (box.end == kOpen) box.end = clock_(Seconds{out_.end});
      }
    }
    out_.calls_within = threshold_;
    out_.traffic = cells();
    std::replace(out_.paths.begin(), out_.paths.end(), kUnseen, 0U);
    out_.density = density_.finish(clock_(Seconds{out_.end}));
    keep_longest(out_.bands, limits_.bands);
    for (auto& bands : out_.bands) {
      std::stable_sort(bands.begin(), bands.end(),
                       [](const Band& a, const Band& b) { return a.begin < b.begin; });
    }
    out_.messages_seen = messages_.seen();
    out_.messages = std::move(messages_.kept());
    std::stable_sort(out_.messages.begin(), out_.messages.end(),
                     [](const MessageArrow& a, const MessageArrow& b) { return a.sent < b.sent; });
    out_.transfers = transfers_.finish();
    out_.transfers_seen = transfers_.seen();
    out_.fences_seen = fences_.seen();
    out_.fences = std::move(fences_.kept());
    adjust_model();
  }

 private:
  struct Reading {
    bool any = false;
    Nanoseconds time = 0;
    std::uint64_t wanted = 0;
  };

  bool is_shmem(RegionId id) {
    const RegionKind kind = out_.region_kinds[region(id)];
    return kind != RegionKind::kProgram && kind != RegionKind::kMeasurement;
  }
  void list_regions() {
    trace_.definitions().regions.for_each([&](RegionId id, const RegionDef& def) {
      regions_[raw(id)] = static_cast<std::uint32_t>(out_.regions.size());
      out_.regions.push_back(def.name);
      out_.region_kinds.push_back(expert::kind_of(def));
      shmem_ = shmem_ || (def.function == nullptr && expert::shmem_class(def.name));
    });
  }
  std::uint32_t region(RegionId id) {
    if (known_region_ && id == last_region_.first) return last_region_.second;
    const auto [entry, added] =
        regions_.try_emplace(raw(id), static_cast<std::uint32_t>(out_.regions.size()));
    if (added) {
      out_.regions.emplace_back("UNKNOWN");
      out_.region_kinds.push_back(RegionKind::kProgram);
    }
    known_region_ = true;
    last_region_ = {id, entry->second};
    return entry->second;
  }

  std::uint32_t path(const earl::OpenCall& call) {
    const std::uint32_t number = raw(call.cnode);
    if (number >= out_.paths.size()) out_.paths.resize(number + 1, kUnseen);
    std::uint32_t& known = out_.paths[number];
    if (known == kUnseen) known = region(call.region);
    return number;
  }

  std::uint32_t window(std::uint32_t id) {
    if (known_window_ && id == last_window_.first) return last_window_.second;
    const auto [entry, added] =
        windows_.try_emplace(id, static_cast<std::uint32_t>(out_.windows.size()));
    if (added) out_.windows.push_back({id, {}, {}});
    known_window_ = true;
    last_window_ = {id, entry->second};
    return entry->second;
  }

  void condense_boxes(std::size_t limit) {
    sort_waits();
    if (threshold_ > 0) condense_rows();
    condense_to(out_.boxes, out_.waits, limit, threshold_);
    boxes_ = count_all(out_.boxes);
    for (std::size_t row = 0; row < open_.size(); ++row) {
      if (open_[row].empty()) continue;
      open_[row].clear();
      const std::vector<Box>& boxes = out_.boxes[row];
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        if (boxes[i].end == kOpen) open_[row].push_back(i);
      }
    }
  }

  void condense_rows() {
    for (std::size_t row = 0; row < out_.boxes.size(); ++row) {
      condense(out_.boxes[row], threshold_, out_.waits[row]);
    }
  }
  void sort_waits() {
    for (auto& waits : out_.waits) {
      const auto earlier = [](const WaitBox& a, const WaitBox& b) { return a.begin < b.begin; };
      if (!std::is_sorted(waits.begin(), waits.end(), earlier)) {
        std::stable_sort(waits.begin(), waits.end(), earlier);
      }
    }
  }
  void condense_waits() {
    sort_waits();
    if (out_.waits_within > 0) {
      for (auto& waits : out_.waits) condense(waits, out_.waits_within);
    }
    condense_to(out_.waits, limits_.waits, out_.waits_within);
    waits_ = count_all(out_.waits);
  }
  void pair_up_stripes() {
    for (auto& stripes : out_.stripes) pair_up(stripes);
    stripes_ = count_all(out_.stripes);
  }

  void add_band(std::uint32_t row, Band band) {
    ++out_.bands_seen;
    out_.bands[row].push_back(band);
    if (++bands_ <= 2 * limits_.bands) return;
    keep_longest(out_.bands, limits_.bands);
    bands_ = count_all(out_.bands);
  }

  TransferArrows::Sync sync(const earl::Call& call) const {
    return {clock_(call.exit), clock_(call.exit) - clock_(call.enter)};
  }

  // In the extended model a get ends where it is synchronised, be it by a flush; the basic model
  // leaves that to the epoch's end.
  void adjust_model() {
    // A flush has no epoch of its own: how long it took is that of the call that ended then. Its
    // box is the last one before that time, or holds the last few.
    const auto sync_length = [&](std::uint32_t row, Nanoseconds end) -> Nanoseconds {
      const std::vector<Box>& boxes = out_.boxes[row];
      auto at = std::lower_bound(boxes.begin(), boxes.end(), end,
                                 [](const Box& box, Nanoseconds time) { return box.begin < time; });
      for (int steps = 0; at != boxes.begin() && steps < 64; ++steps) {
        --at;
        if (at->end == end) return at->end - at->begin;
      }
      return 0;
    };
    const bool extended =
        std::any_of(out_.transfers.begin(), out_.transfers.end(), [](const TransferArrow& t) {
          return t.get && t.origin_sync != 0 && t.end == t.origin_sync;
        });
    for (TransferArrow& arrow : out_.transfers) {
      if (!arrow.get || arrow.origin_sync == arrow.end) continue;
      if (extended || arrow.origin_sync == 0) {
        arrow.origin_sync = arrow.end;
        arrow.origin_sync_length = sync_length(arrow.origin, arrow.end);
      }
    }
  }

  // The function of a call path; where no call of it has ended yet, it is found out in the end.
  std::uint32_t region_of(expert::CallPathIndex path) const {
    const bool seen = path < out_.paths.size() && out_.paths[path] != kUnseen;
    return seen ? out_.paths[path] : kOfPath | path;
  }

  void add_traffic(TrafficKind kind, std::uint32_t from, std::uint32_t to, std::uint32_t on,
                   std::uint32_t region, std::uint64_t amount) {
    Traffic& sum = traffic_of(kind, from, to, on, region);
    sum.amount += amount;
    ++sum.count;
  }
  Traffic& traffic_of(TrafficKind kind, std::uint32_t from, std::uint32_t to, std::uint32_t on,
                      std::uint32_t region) {
    if (traffic_.size() > limits_.pairs && out_.ranks_per_block < out_.processes) {
      out_.traffic = cells();
      while (out_.traffic.size() > limits_.pairs && out_.ranks_per_block < out_.processes) {
        coarsen_traffic(out_);
      }
      traffic_.clear();
      recent_.fill(nullptr);
      for (const Traffic& cell : out_.traffic) traffic_.emplace(key(cell), cell);
    }
    Traffic cell{.from = from / out_.ranks_per_block,
                 .to = to == Traffic::kNone ? to : to / out_.ranks_per_block,
                 .kind = kind};
    if (out_.traffic_by_function) {
      cell.window = on;
      cell.region = region;
    }
    return *cell_of(cell);
  }
  // Operations of one kind mostly are between few processes.
  Traffic* cell_of(const Traffic& cell) {
    const std::uint32_t mixed = (cell.from * 37 + cell.to) * 8 +
                                static_cast<std::uint32_t>(cell.kind) + cell.window * 3 +
                                cell.region * 5;
    Traffic*& recent = recent_[mixed % recent_.size()];
    if (recent == nullptr || key(*recent) != key(cell)) {
      recent = &traffic_.try_emplace(key(cell), cell).first->second;
    }
    return recent;
  }
  using TrafficKey =
      std::tuple<std::uint32_t, std::uint32_t, TrafficKind, std::uint32_t, std::uint32_t>;
  struct TrafficHash {
    std::size_t operator()(const TrafficKey& key) const {
      const auto& [from, to, kind, on, region] = key;
      std::uint64_t hash = std::uint64_t{from} << 32 | to;
      for (const std::uint64_t part :
           {static_cast<std::uint64_t>(kind), std::uint64_t{on}, std::uint64_t{region}}) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };
  static TrafficKey key(const Traffic& cell) {
    return {cell.from, cell.to, cell.kind, cell.window, cell.region};
  }
  // With the function of each.
  std::vector<Traffic> cells() const {
    std::map<TrafficKey, Traffic> sums;
    for (const auto& [known, cell] : traffic_) {
      if (cell.count == 0) continue;
      Traffic named = cell;
      if (cell.region != Traffic::kNone && (cell.region & kOfPath) != 0) {
        const std::uint32_t path = cell.region & ~kOfPath;
        named.region = path < out_.paths.size() && out_.paths[path] != kUnseen ? out_.paths[path]
                                                                               : Traffic::kNone;
      }
      const auto [sum, first] = sums.try_emplace(key(named), named);
      if (first) continue;
      sum->second.amount += named.amount;
      sum->second.count += named.count;
    }
    std::vector<Traffic> all;
    for (const auto& [known, cell] : sums) all.push_back(cell);
    return all;
  }

  // Those of some of the processes, each set once, as long as there is room for their members.
  void list_communicators() {
    constexpr std::size_t kMost = 500, kMostMembers = 50'000;
    std::set<std::vector<std::uint32_t>> known;
    std::size_t members = 0;
    trace_.definitions().comms.for_each([&](CommId id, const CommDef& def) {
      if (def.stands_for_group || def.foreign_members) return;
      std::vector<std::uint32_t> ranks = def.ranks.vector();
      ranks.insert(ranks.end(), def.remote.begin(), def.remote.end());
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      if (ranks.size() < 2 || ranks.size() >= out_.processes || known.contains(ranks)) return;
      ++out_.communicators_seen;
      members += ranks.size();
      if (out_.communicators.size() == kMost || members > kMostMembers) return;
      known.insert(ranks);
      out_.communicators.push_back({raw(id), {}, {}, std::move(ranks)});
    });
  }

  static constexpr Nanoseconds kOpen = static_cast<Nanoseconds>(-1);  // the end of such a call
  static constexpr std::uint32_t kUnseen = static_cast<std::uint32_t>(-1);
  static constexpr std::uint32_t kOfPath = 1U << 31;  // of Traffic::region: a call path

  earl::Trace& trace_;
  const TraceLimits& limits_;
  TraceContent& out_;
  Clock clock_;
  std::unordered_map<std::uint32_t, std::uint32_t> regions_, windows_;
  // What was asked for last.
  std::pair<RegionId, std::uint32_t> last_region_;
  std::pair<std::uint32_t, std::uint32_t> last_window_;
  bool known_region_ = false, known_window_ = false;
  TransferArrows transfers_;
  Sample<MessageArrow> messages_;
  Sample<FenceInstance> fences_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Nanoseconds> last_fence_;
  std::unordered_map<TrafficKey, Traffic, TrafficHash> traffic_;
  std::array<Traffic*, 256> recent_{};
  DensityBins density_;
  std::vector<std::vector<std::size_t>> open_;  // of each row the boxes of its open calls
  bool shmem_ = false;                          // the trace has functions of SHMEM
  std::vector<Reading> processor_;              // the last of each row
  std::size_t boxes_ = 0, waits_ = 0, bands_ = 0, stripes_ = 0;
  Nanoseconds threshold_ = 0;
};

void list_rows(const earl::Trace& trace, TraceContent& content) {
  std::map<std::uint32_t, std::uint32_t> threads;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    ++threads[raw(trace.process(i))];
  }
  const std::string word = std::string(expert::process_word(trace.definitions())) + ' ';
  std::map<std::uint32_t, std::uint32_t> next;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    const std::uint32_t rank = raw(trace.process(i));
    TraceRow row{word + std::to_string(rank), rank, next[rank]++};
    if (threads[rank] > 1) row.name += ", thread " + std::to_string(row.thread);
    if (service_since(trace.definitions(), trace.location_def(i))) row.name += " (serves)";
    content.rows.push_back(std::move(row));
  }
}

}  // namespace

struct TimelineReader::State {
  TraceLimits limits;
  TraceContent content;
  earl::Trace* trace = nullptr;
  std::optional<Content> rows;
};

TimelineReader::TimelineReader(const TraceLimits& limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
}
TimelineReader::~TimelineReader() = default;

TraceLimits quick_limits() {
  return {.boxes = 300'000,
          .waits = 150'000,
          .arrows = 60'000,
          .bands = 60'000,
          .stripes = 50'000,
          .pairs = 100'000,
          .fence_members = 120'000};
}

TraceLimits limits_for(std::size_t max_bytes) {
  // Two thirds of the page are the trace's, in base64; a thing takes some bytes of them.
  const std::size_t bytes = max_bytes / 2;
  const auto most = [&](std::size_t each, std::size_t limit) {
    return std::clamp<std::size_t>(bytes / each, 100'000, limit);
  };
  TraceLimits limits;
  limits.boxes = most(3, 30'000'000);
  limits.waits = most(6, 8'000'000);
  limits.arrows = most(12, 4'000'000);
  limits.bands = most(8, 6'000'000);
  limits.fence_members = most(10, 4'000'000);
  limits.pairs = most(40, 1'000'000);
  return limits;
}

void TimelineReader::open(earl::Trace& trace) {
  State& s = *state_;
  s.trace = &trace;
  s.content.file = trace.path();
  list_rows(trace, s.content);
  s.rows.emplace(trace, s.limits, s.content);
}

#define KOJAK_ROWS(handler, Event)                   \
  void TimelineReader::handler(const Event& event) { \
    state_->rows->handler(event);                    \
  }
KOJAK_ROWS(on_enter, earl::OpenCall)
KOJAK_ROWS(on_call, earl::Call)
KOJAK_ROWS(on_wait, expert::Wait)
KOJAK_ROWS(on_send, earl::SendEvent)
KOJAK_ROWS(on_message_call, earl::MessageCall)
KOJAK_ROWS(on_transfer, earl::Transfer)
KOJAK_ROWS(on_transfer_end, earl::TransferEnd)
KOJAK_ROWS(on_fence_epoch, earl::FenceEpoch)
KOJAK_ROWS(on_window_collective, earl::WindowInstance)
KOJAK_ROWS(on_access_epoch, earl::AccessEpoch)
KOJAK_ROWS(on_access_transaction, earl::AccessEpoch)
KOJAK_ROWS(on_exposure_transaction, earl::ExposureEpoch)
KOJAK_ROWS(on_passive_epoch, earl::PassiveEpoch)
#undef KOJAK_ROWS
void TimelineReader::on_begin(Seconds first) {
  state_->rows->on_begin(first);
}
void TimelineReader::on_end(Seconds last) {
  state_->rows->on_end(last);
}
void TimelineReader::on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
  state_->rows->on_polled(call, series);
}
void TimelineReader::on_moved(expert::CallPathIndex path, expert::LocationIndex location,
                              expert::MetricIndex from, std::optional<expert::MetricIndex> to) {
  state_->rows->on_moved(path, location, from, to);
}
void TimelineReader::on_processor(const earl::OpenCall& in, Seconds time,
                                  const earl::ProcessorTimes& times) {
  state_->rows->on_processor(in, time, times);
}

TraceContent TimelineReader::finish() {
  State& s = *state_;
  s.rows->finish();
  s.content.events = s.trace->events_read();
  s.content.damage = s.trace->damage();
  if (s.trace->damage()) {
    s.content.omitted.push_back("The trace is damaged and is shown up to there: " +
                                s.trace->damage()->message());
  }
  return std::move(s.content);
}

}  // namespace kojak::html
