// What consumers of an analysis are made of: a constructor from it, or from nothing, is all that
// one needs to be in the list (expert/pass.h). It must outlive them.
#pragma once

#include "earl/trace.h"
#include "expert/sums/severity.h"
#include "expert/waits/services.h"

namespace kojak::expert {

struct Setting {
  const earl::Trace& trace;
  SeverityStore& severities;
  Services services = Services(trace);

  const Definitions& definitions() const { return trace.definitions(); }
  std::size_t locations() const { return trace.location_count(); }
};

}  // namespace kojak::expert
