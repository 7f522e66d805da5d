#include "epilog/runtime/run_properties.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bit>

#include "epilog/format/run_property_keys.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/polling.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/program_floats.h"

namespace kojak::measure {
namespace {

constexpr const char* kVariables[] = {
    // Progress outside of MPI calls, in the libraries that know it.
    "MPICH_ASYNC_PROGRESS",  // MPICH, Cray MPICH
    "MPIR_CVAR_ASYNC_PROGRESS",
    "MPIR_PARAM_ASYNC_PROGRESS",
    "MPICH_NEMESIS_ASYNC_PROGRESS",  // Cray MPICH
    "I_MPI_ASYNC_PROGRESS",          // Intel MPI
    "MV2_ASYNC_PROGRESS",            // MVAPICH2
    "MVP_ASYNC_PROGRESS",            // MVAPICH 3
    "MV2_OPTIMIZED_ASYNC_PROGRESS",
    "OMPI_MCA_btl_tcp_progress_thread",  // Open MPI
    "CSP_NG",                            // Casper: ghost processes
    // By which network and protocol data move.
    "OMPI_MCA_pml",
    "OMPI_MCA_osc",
    "OMPI_MCA_btl",
    "OMPI_MCA_coll",
    "UCX_TLS",
    "UCX_NET_DEVICES",
    "FI_PROVIDER",
    "MPIR_CVAR_CH4_NETMOD",
    "MPIR_CVAR_CH4_OFI_ENABLE_RMA",
    "I_MPI_FABRICS",
    "I_MPI_OFI_PROVIDER",
    "MPICH_RMA_MAX_OFI_SIZE",
    // Threads, and where they run.
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "I_MPI_PIN",
    "SLURM_CPU_BIND",
// What is recorded (ELG_DIR says nothing of that).
#define KOJAK_SETTING(NAME, standard, values, doc) #NAME,
#include "epilog/runtime/config_table.def"
#undef KOJAK_SETTING
};

// The words of this process, with blanks between them; those that do not fit are three dots.
void define_command(Recorder& r) {
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char text[kMostText + 1];
  std::size_t size = 0;
  while (size < kMostText) {
    const ssize_t got = read(file, text + size, kMostText - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  char more = 0;
  const bool cut = size == kMostText && read(file, &more, 1) == 1;
  close(file);
  while (size > 0 && text[size - 1] == '\0') --size;
  if (size == 0) return;
  for (std::size_t i = 0; i < size; ++i) {
    if (text[i] == '\0') text[i] = ' ';
  }
  text[size] = '\0';
  if (cut) memcpy(text + kMostText - 3, "...", 4);
  define_property(r, run_property::kCommand, text);
}

// Now, in UTC. The C library's functions for this read files and take locks.
void define_start(Recorder& r) {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return;
  const long long day = now.tv_sec / 86400, second = now.tv_sec % 86400;
  // Years begin in March, so that a leap day is the last of its year; 400 of them repeat.
  const long long from_march = day + 719468;
  const long long era = from_march / 146097, of_era = from_march % 146097;
  const long long year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const long long of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const long long month = (5 * of_year + 2) / 153;
  const long long date = of_year - (153 * month + 2) / 5 + 1;
  const bool next_year = month >= 10;
  char text[64];
  snprintf(text, sizeof text, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lldZ",
           era * 400 + year_of_era + (next_year ? 1 : 0), month + (next_year ? -9 : 3), date,
           second / 3600, second / 60 % 60, second % 60);
  define_property(r, run_property::kStart, text);
}

}  // namespace

void define_property(Recorder& r, const char* key, const char* value) {
  const StringId key_id = define_string(r, key, strnlen(key, kMostText));
  char text[kMostText + 1];
  snprintf(text, sizeof text, "%s", value);
  const StringId value_id = define_string(r, text, strlen(text));
  publish(r,
          put(r, r.cursor, RunProperty{key_id, value_id, static_cast<ProcessId>(r.trace->rank)}));
}

void define_time_property(Recorder& r, const char* key, Ticks time) {
  const ProgramFloats floats;
  char bits[24];
  snprintf(bits, sizeof bits, "%llu",
           static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(to_seconds(time).value)));
  define_property(r, key, bits);
}

void define_run_properties(Recorder& r) {
  if (the_session.library[0] != '\0') {
    define_property(r, run_property::kMpiLibrary, the_session.library);
  }
  define_command(r);
  if (r.trace->rank == 0) define_start(r);
  for (const char* name : kVariables) {
    const char* value = secure_getenv(name);
    if (value == nullptr || strcmp(name, "ELG_DIR") == 0) continue;
    char key[64];
    snprintf(key, sizeof key, "%s%s", run_property::kEnvironment, name);
    define_property(r, key, value);
  }
  define_processors(r);
  if (the_session.config.polls == PollRecording::kJoin)
    define_property(r, run_property::kPauses, pauses_are_seen ? "seen" : "unseen");
}

}  // namespace kojak::measure
