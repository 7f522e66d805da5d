// A merged trace as other tools show it: regions that are entered and left, and lines between
// locations for messages and one-sided transfers.
//
// The trace is read twice: for regions, messages and epochs (Replay), then for the ends of
// transfers. Times are nanoseconds since the first event. Memory: what is open. Single-threaded.
// Errors: exit code 2 for what is no trace; damage on the way is kept for the caller to tell.
// Source of the views of transfers: thesis, 7.2 to 7.4.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "earl/trace.h"
#include "epilog/format/check/trace_gaps.h"

namespace kojak::exporting {

// How one-sided communication is drawn.
enum class RmaView : std::uint8_t {
  kTransfers,     // from where the data start to where they have arrived
  kClosed,        // and of a get also the request, as a line of no bytes from origin to target
  kLogical,       // the data of a get start as late as they can
  kDependencies,  // and from post to start, and from complete to wait, lines of no bytes
};
struct RmaViewName {
  RmaView view;
  std::string_view name;
};
// The default first.
inline constexpr RmaViewName kRmaViews[] = {{RmaView::kTransfers, "transfers"},
                                            {RmaView::kClosed, "closed"},
                                            {RmaView::kLogical, "logical"},
                                            {RmaView::kDependencies, "dependencies"}};
std::optional<RmaView> rma_view(std::string_view name);
std::string rma_view_names();  // "transfers, closed, ..."

struct Line {
  enum class Kind : std::uint8_t { kMessage, kPut, kGet, kRequest, kDependency };
  Kind kind = Kind::kMessage;
  std::uint32_t from = 0, to = 0;    // locations
  std::uint64_t begin = 0, end = 0;  // the end is never before the begin
  std::uint64_t bytes = 0;
  std::uint32_t tag = 0;  // of messages
};

// Gets what there is to show; by the numbers of locations in the trace.
class Shown {
 public:
  virtual ~Shown() = default;
  // `region`: the innermost one from here on, absent outside of all.
  virtual void enter(std::uint32_t location, std::uint64_t time, RegionId region,
                     CallSiteId site) = 0;
  virtual void leave(std::uint32_t location, std::uint64_t time) = 0;
  virtual void line(const Line& line) = 0;
  // A transfer is issued here.
  virtual void transfer(std::uint32_t, std::uint64_t, WindowId, std::uint64_t /*bytes*/) {}
  // Counters of a call: exclusive values.
  virtual void counters(std::uint32_t, std::uint64_t, std::span<const std::uint64_t>) {}
};

struct Exported {
  std::vector<TraceGap> gaps;
  std::optional<Error> damage;
  std::uint64_t end = 0;     // of the latest event
  std::uint64_t turned = 0;  // lines whose end would have been before their begin
  std::uint64_t open = 0;    // transfers without an end
};
// `trace` has been opened and not yet read; its file is opened once more.
Result<Exported> show(earl::Trace& trace, RmaView view, Shown& shown,
                      const std::function<void(std::uint64_t)>& progress);

}  // namespace kojak::exporting
