// How SHMEM's processes exchange what they need of each other (epilog/runtime/exchange.h): through
// symmetric memory that is given back at once, or, where there are several nodes, when the last
// offset is measured.
#pragma once

#include "epilog/runtime/exchange.h"

namespace kojak::measure {

extern const Exchange kShmemExchange;

}  // namespace kojak::measure
