#include "earl/access/byte_matrix.h"

namespace kojak::earl {

ByteMatrix byte_matrix(const Archive& archive, bool messages, bool transfers) {
  const Trace& trace = archive.trace();
  ByteMatrix result;
  result.processes = trace.process_count();
  result.bytes.resize(std::size_t{result.processes} * result.processes);
  const auto process = [&](std::uint32_t location) {
    const std::uint32_t i = trace.index(static_cast<LocationId>(location));
    return i != kAbsent ? raw(trace.process(i)) : location;
  };
  archive.for_each(0, archive.size(), [&](const Event& e) {
    if (!(messages && is_send(e.type)) && !(transfers && is_rma_start(e.type))) return;
    // A message or put leaves the event's location; a get's data start there, too.
    const std::uint32_t from = process(raw(e.loc)), to = process(raw(e.peer));
    if (from >= result.processes || to >= result.processes) return;
    result.bytes[std::size_t{from} * result.processes + to] += raw(e.sent);
  });
  return result;
}

}  // namespace kojak::earl
