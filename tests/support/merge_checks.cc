#include "tests/support/merge_checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "epilog/format/check/verify.h"
#include "epilog/format/io/reader.h"

namespace kojak::support {
namespace {

using OpKey = std::tuple<std::uint32_t, std::uint32_t, bool>;  // origin, rmaid, put
OpKey key_of(const PlainEvent& event) {
  return {event.origin, event.rmaid, event.put};
}

std::string op_words(const OpKey& key) {
  return std::string(std::get<2>(key) ? "put " : "get ") + std::to_string(std::get<0>(key)) + "#" +
         std::to_string(std::get<1>(key));
}

}  // namespace

std::vector<std::string> ends_in_words(const std::vector<std::byte>& merged) {
  const std::vector<PlainEvent> events = merged_events(merged);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const PlainEvent& e = events[i];
    if (!e.is_end) continue;
    std::size_t next = i + 1;
    while (next < events.size() && (events[next].is_end || events[next].is_mark)) ++next;
    std::string line = op_words(key_of(e)) + " at " + std::to_string(e.lid) +
                       " t=" + shown_time(e.time) + " before ";
    line += next < events.size() ? events[next].name + " " + std::to_string(events[next].lid)
                                 : std::string("the end");
    if (e.mark != 0) line += " mark " + std::to_string(e.mark);
    words.push_back(std::move(line));
  }
  return words;
}

std::vector<std::string> check_merge(const std::vector<std::vector<std::byte>>& locals,
                                     const std::vector<std::byte>& merged,
                                     const MergeCheck& check) {
  std::vector<std::string> wrong;
  auto reader = TraceReader::from(memory_source(merged.data(), merged.size()), "merged");
  if (!reader) return {reader.error().message()};
  auto verified = verify_trace(*reader);
  if (!verified) return {verified.error().message()};
  for (const auto& finding : verified->findings) {
    if (finding.level == Level::kError) wrong.push_back("verify: " + finding.message());
  }
  const TraceDefinitionsRead trace = read_definitions(merged);
  const std::vector<PlainEvent> events = merged_events(merged);

  // The events of each local trace, ends apart.
  std::map<std::uint32_t, std::vector<const PlainEvent*>> by_source;
  std::map<OpKey, const PlainEvent*> ends;
  for (const PlainEvent& event : events) {
    if (event.is_mark) continue;
    if (event.is_end) {
      if (!ends.emplace(key_of(event), &event).second) {
        wrong.push_back(op_words(key_of(event)) + " ends twice");
      }
    } else {
      by_source[event.source].push_back(&event);
    }
  }
  std::vector<std::vector<PlainEvent>> spelled;
  double base = HUGE_VAL;
  for (std::size_t i = 0; i < locals.size(); ++i) {
    spelled.push_back(local_events(locals[i]));
    for (const PlainEvent& event : spelled.back()) {
      base = std::min(base, check.clock ? check.clock(i, event.time) : event.time);
    }
  }
  std::map<OpKey, std::pair<double, PlainEvent>> own_times;
  for (std::size_t i = 0; i < locals.size(); ++i) {
    const Definitions defs = read_definitions(locals[i]).defs;
    std::uint32_t lid = kAbsent;
    trace.defs.locations.for_each([&](LocationId id, const LocationDef& location) {
      if (raw(location.process) == raw(defs.local_run->pid) &&
          raw(location.thread) == raw(defs.local_run->tid)) {
        lid = raw(id);
      }
    });
    const std::string who = "location " + std::to_string(lid) + ": ";
    const std::vector<const PlainEvent*>& have = by_source[lid];
    std::size_t at = 0;
    double last = 0;
    for (const PlainEvent& event : spelled[i]) {
      const double time = (check.clock ? check.clock(i, event.time) : event.time) - base;
      last = time;
      if (event.is_end) {
        const auto end = ends.find(key_of(event));
        if (end == ends.end()) {
          wrong.push_back(op_words(key_of(event)) + " has no end");
        } else {
          if (end->second->fields != event.fields || end->second->attributes != event.attributes) {
            wrong.push_back("end is " + end->second->line() + ", not " + event.line());
          }
          own_times.emplace(key_of(event), std::pair(time, event));
        }
        continue;
      }
      if (at == have.size()) {
        wrong.push_back(who + "lacks " + event.line());
        break;
      }
      const PlainEvent& got = *have[at++];
      const bool remote = event.name == "MPI_GET_1TS" || event.name == "GET_1TS";
      if (got.name != event.name || got.fields != event.fields ||
          got.attributes != event.attributes || got.lid != (remote ? event.lid : lid)) {
        wrong.push_back(who + "has " + got.line() + ", not " + event.line());
        break;
      }
      if (check.compare_times && std::fabs(got.time - time) > 1e-9 * std::max(1.0, time)) {
        wrong.push_back(who + "has " + got.line() + " at another time than " + shown_time(time));
        break;
      }
    }
    std::uint32_t closed = i < check.closed.size() ? check.closed[i] : 0;
    for (; at < have.size() && closed > 0; ++at, --closed) {
      static const std::set<std::string> kClosing = {"EXIT", "LOG_ON", "EXIT_TRACING"};
      if (!kClosing.contains(have[at]->name) ||
          (check.compare_times && std::fabs(have[at]->time - last) > 1e-9 * std::max(1.0, last))) {
        wrong.push_back(who + "closes a region with " + have[at]->line());
      }
    }
    if (at < have.size()) wrong.push_back(who + "has more: " + have[at]->line());
    if (closed > 0) wrong.push_back(who + "leaves regions open");
    by_source.erase(lid);
  }
  for (const auto& [lid, have] : by_source) {
    if (!have.empty()) wrong.push_back("from nowhere: " + have.front()->line());
  }
  for (const auto& [key, end] : ends) {
    if (!own_times.contains(key)) wrong.push_back("from nowhere: " + end->line());
  }

  // Where the ends stand.
  std::set<OpKey> started;
  static const std::set<std::string> kCompleting = {
      "MPI_WINCOLLEXIT", "MPI_WINEXIT",      "MPI_WIN_UNLOCK", "MPI_WIN_UNLOCK_ALL",
      "MPI_WIN_FLUSH",   "MPI_RMA_COMPLETE", "SHMEM_QUIET"};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const PlainEvent& e = events[i];
    if (e.is_start) started.insert(key_of(e));
    if (!e.is_end) continue;
    if (!started.contains(key_of(e))) wrong.push_back("before its start: " + e.line());
    std::size_t next = i + 1;
    while (next < events.size() && (events[next].is_end || events[next].is_mark)) ++next;
    if (check.extended && e.mark == 0) {
      // What is blocking in SHMEM ends in its call.
      const bool in_call = next < events.size() && events[next].name == "EXIT" &&
                           (e.name == "GET_1TE" || e.name == "PUT_1TE");
      if (in_call) continue;
      if (next == events.size() || !kCompleting.contains(events[next].name)) {
        wrong.push_back("not before a completing record: " + e.line());
      } else if (events[next].time != e.time) {
        wrong.push_back("not at the time of its completing record: " + e.line());
      }
    }
    // Several ends at one record: by own time, origin, number.
    if (check.extended && check.compare_end_order && i + 1 < events.size() &&
        events[i + 1].is_end && e.mark == 0) {
      const auto a = own_times.find(key_of(e)), b = own_times.find(key_of(events[i + 1]));
      if (a != own_times.end() && b != own_times.end() &&
          std::tuple(b->second.first, events[i + 1].origin, events[i + 1].rmaid) <
              std::tuple(a->second.first, e.origin, e.rmaid)) {
        wrong.push_back("ends out of order: " + e.line() + " before " + events[i + 1].line());
      }
    }
  }
  return wrong;
}

std::vector<std::string> check_models(const std::vector<std::byte>& basic,
                                      const std::vector<std::byte>& extended) {
  std::vector<std::string> wrong;
  std::map<OpKey, std::string> ends;
  std::vector<PlainEvent> rest;
  for (PlainEvent& event : merged_events(extended)) {
    if (event.is_mark) continue;
    if (event.is_end) {
      ends.emplace(key_of(event), event.attributes + event.fields);
    } else {
      rest.push_back(std::move(event));
    }
  }
  std::size_t at = 0;
  for (const PlainEvent& event : merged_events(basic)) {
    if (event.is_end) {
      const auto end = ends.find(key_of(event));
      if (end == ends.end()) {
        wrong.push_back("the extended model lacks " + event.line());
      } else {
        if (end->second != event.attributes + event.fields) {
          wrong.push_back("another end than " + event.line());
        }
        ends.erase(end);
      }
      continue;
    }
    if (at == rest.size() || rest[at].line() != event.line()) {
      wrong.push_back("the extended model has " +
                      (at < rest.size() ? rest[at].line() : std::string("nothing")) +
                      " where the basic one has " + event.line());
      break;
    }
    ++at;
  }
  if (wrong.empty() && at < rest.size()) {
    wrong.push_back("the extended model has more: " + rest[at].line());
  }
  for (const auto& end : ends) wrong.push_back("the basic model lacks " + op_words(end.first));
  return wrong;
}

}  // namespace kojak::support
