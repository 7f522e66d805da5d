#include "epilog/runtime/run_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/runtime/local_trace.h"

namespace kojak::measure {
namespace {

// Variables that switch on progress outside of MPI calls, in the libraries that know them.
constexpr const char* kVariables[] = {
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
};

}  // namespace

void define_property(Recorder& r, const char* key, const char* value) {
  const StringId key_id = define_string(r, key, strnlen(key, kMostText));
  char text[kMostText + 1];
  snprintf(text, sizeof text, "%s", value);
  const StringId value_id = define_string(r, text, strlen(text));
  publish(r, put(r.cursor,
                 RunProperty{key_id, value_id, static_cast<ProcessId>(the_session.run.rank)}));
}

void define_run_properties(Recorder& r) {
  if (the_session.library[0] != '\0') {
    define_property(r, run_property::kMpiLibrary, the_session.library);
  }
  for (const char* name : kVariables) {
    const char* value = getenv(name);
    if (value == nullptr) continue;
    char key[64];
    snprintf(key, sizeof key, "%s%s", run_property::kEnvironment, name);
    define_property(r, key, value);
  }
}

}  // namespace kojak::measure
