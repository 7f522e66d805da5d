#include "expert/parallel/local_slices.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "epilog/format/io/block_pipe.h"
#include "expert/parallel/shared_survey.h"
#include "merge/complete/walk.h"

namespace kojak::parallel {

Result<std::unique_ptr<LocalSlices>> LocalSlices::of(const merge::MergeOptions& options, Team* team,
                                                     const KeptFiles& kept) {
  auto rows = LocalRows::open(options);
  if (!rows) return rows.error();
  std::unique_ptr<LocalSlices> slices(new LocalSlices(std::move(*rows)));
  Team nobody;
  Team& readers = team == nullptr ? nobody : *team;
  const bool leads = readers.leads();
  if (!leads) {
    const auto read = read_for_leader(readers, slices->rows_, kept);
    if (!read) return read.error();
    if (!*read) slices->alone_ = "the first process does it";
    if (!*read) return slices;
  } else {
    const bool in_shares = (team != nullptr || kept) &&
                           slices->rows_.why_alone_by_files().empty() &&
                           !slices->rows_.merge().copied();
    Status read = in_shares ? read_together(readers, slices->rows_, kept) : slices->rows_.read();
    if (!read) return read.error();
  }
  slices->options_ = options;
  auto defined = slices->rows_.merge().definitions();
  if (!defined) return defined.error();
  slices->defined_ = std::move(*defined);
  auto trace = earl::Trace::from(memory_source(slices->defined_.data(), slices->defined_.size()),
                                 options.inputs.front());
  if (!trace) return trace.error();
  slices->definitions_.emplace(std::move(*trace));
  slices->alone_ = slices->why_not(options);
  if (!slices->alone_.empty()) return slices;
  slices->meetings_ = slices->rows_.meetings(true);
  for (Meeting& m : slices->meetings_) m.done = m.bytes;
  slices->length_ = slices->rows_.bytes();
  if (!leads) slices->cut_at_each();
  return slices;
}

void LocalSlices::cut_at_each() {
  cuts_.resize(meetings_.size());
  std::iota(cuts_.begin(), cuts_.end(), std::size_t{0});
}

Status LocalSlices::tell_cuts(Team& team) {
  std::vector<Meeting> chosen;
  for (const std::size_t cut : cuts_) chosen.push_back(std::move(meetings_[cut]));
  meetings_ = std::move(chosen);
  cut_at_each();
  return tell_chosen(team, static_cast<int>(cuts_.size()), meetings_, rows_);
}

std::string LocalSlices::why_not(const merge::MergeOptions& options) const {
  if (!rows_.alone().empty()) return rows_.alone();
  if (!rows_.not_added().empty()) return rows_.not_added();
  if (options.clock == merge::ClockCorrection::kControlled)
    return "clocks are corrected by what was before what (--clock clc)";
  if (rows_.merge().copied()) return "the local traces cannot be read from their midst";
  const earl::Trace& trace = *definitions_;
  if (const char* const why = why_alone(trace.definitions(), trace.dialect())) return why;
  for (std::size_t i = 0; i < rows_.merge().traces().size(); ++i) {
    if (trace.index(LocationId{rows_.merge().survey().definitions.location_of(i)}) != i)
      return "its locations are in another order than its processes";
  }
  return "";
}

const earl::Standing* LocalSlices::standing(std::size_t number) {
  const Meeting* const begin = begin_of(number);
  if (begin == nullptr) return nullptr;
  earl::Standing& told = standing_.emplace();
  told.run_began = Seconds{rows_.began()};
  const merge::Survey& survey = rows_.merge().survey();
  for (std::size_t i = 0; i < begin->ends.size(); ++i) {
    const StandingRow& at = rows_.at(i, begin->ends[i]);
    const merge::LinearClock& clock = rows_.merge().clocks()[i];
    const merge::Translation& names = *survey.traces[i].translation;
    earl::Standing::Location& location = told.locations.emplace_back();
    for (const RowMaker::Around& around : at.open) {
      const std::uint32_t site =
          around.call_site ? names.call_sites[around.id] : names.sites[around.id];
      const std::uint32_t region =
          merge::entered_region(names, survey.definitions, around.id, around.call_site);
      location.open.push_back({RegionId{region}, CallSiteId{site}, {clock(around.time)}});
    }
    location.received = at.received;
    location.goes_on_with = earl::ticks_between(clock(at.row.enter), clock(at.row.exit));
    for (const merge::Slice::Window& w : at.windows) {
      const WindowId window{rows_.window(i, w.id)};
      if (w.fences != 0) location.fenced.push_back({window, w.fences});
      if (w.all != 0) location.held.push_back(window);
    }
    if (at.processor) {
      const Processor& p = *at.processor;
      location.processor = {
          Seconds{clock(p.time.value)},
          {raw(p.ran), raw(p.wanted), raw(p.preempted), blocked_kind(raw(p.blocked_kind))}};
    }
  }
  return &told;
}

merge::Slice LocalSlices::slice(std::size_t number, expert::Gate& gate) const {
  const Meeting *const begin = begin_of(number), *const end = end_of(number);
  merge::Slice slice;
  slice.ends_run = end == nullptr;
  const merge::Survey& survey = rows_.merge().survey();
  for (std::size_t i = 0; i < rows_.merge().traces().size(); ++i) {
    merge::Slice::OfTrace& of = slice.traces.emplace_back();
    if (end != nullptr) {
      const Row& row = rows_.at(i, end->ends[i]).row;
      of.last = row.ends;
      of.part.end = row.behind;
    }
    if (begin == nullptr) continue;
    const StandingRow& at = rows_.at(i, begin->ends[i]);
    of.met = at.row.ends;
    of.part.first = at.row.begins;
    of.part.block = rows_.block_before(i, at.row.begins);
    const merge::Translation& names = *survey.traces[i].translation;
    for (const RowMaker::Around& around : at.open) {
      of.open.push_back(
          merge::entered_region(names, survey.definitions, around.id, around.call_site));
    }
    for (merge::Slice::Window window : at.windows) {
      window.id = rows_.window(i, window.id);
      of.windows.push_back(std::move(window));
    }
  }
  slice.edge = [&gate](std::size_t location, bool end_of_part, std::uint64_t written) {
    expert::Gate::Location& at = gate.locations[location];
    end_of_part ? at.last = written - 1 : at.first = written;
  };
  return slice;
}

Result<std::unique_ptr<ByteSource>> LocalSlices::records(std::size_t number, expert::Gate& gate) {
  const std::size_t locations = rows_.merge().traces().size();
  gate.locations = std::vector<expert::Gate::Location>(locations);
  if (number != 0) {
    for (expert::Gate::Location& l : gate.locations) l.first = expert::Gate::kEnd;
  }
  slice_ = slice(number, gate);
  stream_.emplace([this](BlockPipe& pipe) {
    merge::MergeOptions options = options_;
    options.threads = 1;
    options.progress = nullptr;
    options.reader = &pipe;
    return rows_.merge().write(options, &slice_);
  });
  return stream_->source();
}

Result<std::string> LocalSlices::finish() {
  const auto merged = stream_->finish();
  if (!merged) return merged.error();
  if (!slice_.ends_run && merged->open_ends != 0)
    return std::string("transfers are open where it was to be cut");
  for (const merge::Message& message : merge::messages_of(*merged)) return message.text;
  return std::string();
}

void LocalSlices::forget() {
  stream_.reset();
  slice_ = {};
  standing_.reset();
  meetings_ = {};
  rows_.forget();
}

std::uint64_t LocalSlices::own_events(std::size_t number, std::uint64_t read) const {
  const Meeting* const begin = begin_of(number);
  if (begin == nullptr) return read;
  for (std::size_t i = 0; i < begin->ends.size(); ++i)
    read -= rows_.at(i, begin->ends[i]).row.in_call;
  return read;
}

}  // namespace kojak::parallel
