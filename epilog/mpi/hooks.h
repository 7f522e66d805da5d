// All hooks. A function without one is recorded as a plain call.
#pragma once

#include "epilog/mpi/hooks_coll.h"
#include "epilog/mpi/hooks_comm.h"
#include "epilog/mpi/hooks_group.h"
#include "epilog/mpi/hooks_io.h"
#include "epilog/mpi/hooks_p2p.h"
#include "epilog/mpi/hooks_probe.h"
#include "epilog/mpi/hooks_request.h"
#include "epilog/mpi/hooks_rma.h"
#include "epilog/mpi/hooks_start.h"
#include "epilog/mpi/hooks_window.h"
