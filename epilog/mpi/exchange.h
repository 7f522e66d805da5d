// How MPI's processes exchange what they need of each other (epilog/runtime/exchange.h): over
// MPI_COMM_WORLD at the start, which nobody else can use yet, later on a private communicator.
#pragma once

#include "epilog/runtime/exchange.h"

namespace kojak::measure {

extern const Exchange kMpiExchange;

}  // namespace kojak::measure
