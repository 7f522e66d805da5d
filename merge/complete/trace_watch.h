// Who looks at each record of a local trace while pass 1 reads it (trace_survey.h).
//
// Made for one trace; called by one thread at a time, another one than made it. What it is given
// lives until the call returns.
#pragma once

#include <cstdint>
#include <functional>

#include "epilog/format/record/codec.h"
#include "merge/complete/epochs.h"
#include "merge/input/local_trace.h"

namespace kojak::merge {

class TraceWatch {
 public:
  virtual ~TraceWatch() = default;
  // With its offset. `epochs`: where the process stands on its windows before that record, as pass
  // 2 will have it; null where the process has several traces.
  virtual void take(const RawRecord& record, ProcessEpochs* epochs) = 0;
};

// Null: nobody looks at the trace of that number.
using Watches = std::function<TraceWatch*(std::size_t, const LocalTrace&)>;

}  // namespace kojak::merge
