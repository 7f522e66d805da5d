// The earliest beginning among things that are open; model/open_times.h says more.
#pragma once

#include "epilog/model/open_times.h"

namespace kojak::expert {

using model::OpenTimes;

}  // namespace kojak::expert
