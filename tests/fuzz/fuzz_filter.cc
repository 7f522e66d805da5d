// Cuts of any trace: a cut of a sound trace is a sound trace, and whatever is cut can be analysed.
//
// The first eight bytes choose the cut: two hundredths of the trace's length, ranks, regions.
#include <cmath>
#include <cstdint>

#include "earl/filter/copy.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace kojak;

std::unique_ptr<ByteSource> source(const fuzz::Bytes& bytes) {
  return memory_source(bytes.data(), bytes.size());
}

filter::Cut choose(const std::uint8_t* choice, const fuzz::Bytes& bytes,
                   const Definitions& definitions) {
  double begin = HUGE_VAL, end = -HUGE_VAL;
  auto reader = TraceReader::from(source(bytes), "input");
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (!is_event(record.type) || record.length < 12) continue;
    const double time = event_time(record, reader->dialect().swapped()).value;
    begin = std::min(begin, time);
    end = std::max(end, time);
  }
  filter::Cut cut{-HUGE_VAL, HUGE_VAL, {}, {}};
  const double length = end - begin;
  if (choice[0] < 100) cut.from = begin + length * choice[0] / 100;
  if (choice[1] < 100) cut.to = begin + length * choice[1] / 100;
  if (std::isnan(cut.from) || std::isnan(cut.to) || cut.to < cut.from) {
    cut.from = -HUGE_VAL;
    cut.to = HUGE_VAL;
  }
  int n = 0;
  definitions.locations.for_each([&](LocationId, const LocationDef& location) {
    if (n < 8 && (choice[2] & 1 << n++) != 0) cut.ranks.insert(raw(location.process));
  });
  n = 0;
  definitions.regions.for_each([&](RegionId, const RegionDef& region) {
    if (choice[3] != 0 && n++ % 16 == choice[3] % 16) cut.regions.insert(region.name);
  });
  return cut;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kChoice = 8;
  if (size < kChoice) return 0;
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const fuzz::Bytes whole(begin + kChoice, begin + size);
  const auto before = fuzz::check_readers(whole);
  auto trace = earl::Trace::from(source(whole), "input");
  if (!before || !trace) return 0;
  auto selection = filter::Selection::make(choose(data, whole, trace->definitions()), *trace);
  if (!selection) return 0;
  const filter::Severed severed = filter::find_severed(*trace, *selection, {});
  auto reader = TraceReader::from(source(whole), "input");
  Dialect dialect = reader->dialect();
  dialect.metrics = static_cast<std::uint32_t>(trace->definitions().metrics.size());
  const std::string output = (fuzz::directory() / "part.elg").string();
  auto writer = TraceWriter::create(output, dialect);
  const std::function<void(std::uint64_t)> none;
  const filter::Inherited nothing;
  const auto copied = filter::copy_selected(
      {*reader, trace->definitions(), *selection, severed, nothing, 0, none}, &*writer);
  fuzz::expect(filter::replace_event_count(*writer, copied).ok() && writer->commit().ok(),
               "the cut cannot be written");
  const fuzz::Bytes part = fuzz::read(output);
  const auto after = fuzz::check_readers(part);
  fuzz::expect(after.has_value() && after->events == copied.events, "the cut is no trace");
  if (before->worst() == Level::kNote) {
    for (const Finding& finding : after->findings) {
      fuzz::expect(finding.level == Level::kNote, finding.message());
    }
  }
  fuzz::check_analysis(part);
  return 0;
}
