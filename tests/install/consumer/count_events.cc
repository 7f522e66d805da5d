// Prints how many events a trace has: the smallest use of the installed library.
#include <cstdio>

#include "epilog/format/io/reader.h"

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  auto reader = kojak::TraceReader::open(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message().c_str());
    return 2;
  }
  unsigned long events = 0;
  kojak::RawRecord record;
  while (reader->next(record) == kojak::TraceReader::Next::kRecord) {
    events += kojak::is_event(record.type) ? 1 : 0;
  }
  std::printf("%lu\n", events);
  return 0;
}
