#include "epilog/mpi/failed_call.h"

#include "epilog/format/field_values.h"
#include "epilog/format/mpi_errors.h"
#include "epilog/mpi/args.h"
#include "epilog/runtime/own_stack.h"

// Classes that an older mpi.h does not have.
#ifndef MPI_ERR_PROC_ABORTED
#define MPI_ERR_PROC_ABORTED MPI_ERR_LASTCODE
#endif
#ifndef MPI_ERR_SESSION
#define MPI_ERR_SESSION MPI_ERR_LASTCODE
#endif
#ifndef MPI_ERR_VALUE_TOO_LARGE
#define MPI_ERR_VALUE_TOO_LARGE MPI_ERR_LASTCODE
#endif
#ifndef MPI_ERR_ERRHANDLER
#define MPI_ERR_ERRHANDLER MPI_ERR_LASTCODE
#endif

namespace kojak::measure {
namespace {

// By number less one.
constexpr int kConstants[] = {
#define KOJAK_MPI_ERROR(number, NAME, of, meaning) MPI_ERR_##NAME,
#include "epilog/format/mpi_errors.def"
#undef KOJAK_MPI_ERROR
};

std::uint8_t number_of(int error_class) {
  for (std::uint8_t i = 0; i < kMostMpiErrors; ++i) {
    if (kConstants[i] == error_class) return static_cast<std::uint8_t>(i + 1);
  }
  return 0;
}

}  // namespace

// Open MPI's codes are its classes, but for those that the program has added, which are told as of
// another class: to ask there for the class of what is no code (a callback of the program may have
// returned any number, and a call returns that) may end the program.
int error_class_of(int code) {
#if defined(MPICH)
  if (code == kNotSeen) return MPI_ERR_UNKNOWN;
  return on_own_stack([code] {
    int error_class = MPI_ERR_UNKNOWN;
    return mpi::Error_class(code, &error_class) == MPI_SUCCESS ? error_class : MPI_ERR_UNKNOWN;
  });
#else
  return code;
#endif
}

bool took_no_part(int code) {
  return mpi_error(number_of(error_class_of(code))).of == MpiErrorOf::kArguments;
}

void record_failure(Recording& call, int code) {
  if (code == kNotSeen || !call.room(2 * kMaxRecord)) return;
  call.event(MpiError{call.r.lid, call.exit, Byte{number_of(error_class_of(code))},
                      Count{static_cast<std::uint32_t>(code)}});
  call.room(0);
}

void end_failed_call(PlainCall& call, int code) {
  if (call.recorded) {
    Recording records = records_of(call);
    record_failure(records, code);
    records.leave();
    end_call(call, records);
  }
  leave_call(call);
}

bool ToldErrors::is_new(int code) {
  const std::uint8_t number = number_of(error_class_of(code));
  if (classes_[number]) return false;
  classes_.set(number);
  return true;
}

void lose_count(Comm& comm) {
  comm.count_lost = true;
  comm.collectives = kCountLost;
  comm.collectives_changed = true;
}

void lose_count(Window& window) {
  window.count_lost = true;
  window.changed = true;
  window_serial.fetch_add(1, std::memory_order_relaxed);  // no thread remembers it
}

void record_lost_count(Recording& call, Comm& comm) {
  if (!call.use(comm) || !call.room(2 * kMaxRecord)) return;
  call.event(CollState{call.r.lid, call.exit, static_cast<CommId>(comm.id), Count64{kCountLost}});
}

void record_lost_count(Recording& call, Window& window) {
  if (!call.use(window) || !call.room(2 * kMaxRecord)) return;
  call.event(WinState{call.r.lid, call.exit, static_cast<WindowId>(window.id), Count64{kCountLost},
                      Flags{0}});
}

}  // namespace kojak::measure
