// What a UPC compiler tells of, and which metrics it leaves without a sense.
//
// A trace has the numbers of all events that its compiler can tell (RUN_PROPERTY upc.event.NAME). A
// pattern that needs others would be 0 whatever the program did, so reports leave it out and say
// why. Where nothing is said of events, nothing is left out. Pure functions; nothing fails.
#pragma once

#include <string>

#include "epilog/format/definitions.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

class UpcEvents {
 public:
  explicit UpcEvents(const Definitions& definitions) : definitions_(definitions) {}
  // "GNU UPC does not tell collective operations."; empty if the metric has what it needs.
  std::string missing(const Metric& metric) const;

 private:
  bool tells(std::string_view event) const;

  const Definitions& definitions_;
};

}  // namespace kojak::expert
