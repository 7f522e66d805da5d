/* A tool of OpenMP that does nothing in the callbacks that the measurement has of regions and
 * locks: what the calls themselves cost, which bench_openmp_cost subtracts from what the
 * measurement adds. */
#include <omp-tools.h>
#include <stddef.h>

static void begin_region(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* region,
                         unsigned wanted, int flags, const void* place) {
  (void)task, (void)frame, (void)region, (void)wanted, (void)flags, (void)place;
}
static void end_region(ompt_data_t* region, ompt_data_t* task, int flags, const void* place) {
  (void)region, (void)task, (void)flags, (void)place;
}
static void implicit_task(ompt_scope_endpoint_t end, ompt_data_t* region, ompt_data_t* task,
                          unsigned size, unsigned index, int flags) {
  (void)end, (void)region, (void)task, (void)size, (void)index, (void)flags;
}
static void ask(ompt_mutex_t kind, unsigned hint, unsigned way, ompt_wait_id_t lock,
                const void* place) {
  (void)kind, (void)hint, (void)way, (void)lock, (void)place;
}
static void take(ompt_mutex_t kind, ompt_wait_id_t lock, const void* place) {
  (void)kind, (void)lock, (void)place;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* tool) {
  const ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  (void)device, (void)tool;
  set(ompt_callback_parallel_begin, (ompt_callback_t)begin_region);
  set(ompt_callback_parallel_end, (ompt_callback_t)end_region);
  set(ompt_callback_implicit_task, (ompt_callback_t)implicit_task);
  set(ompt_callback_mutex_acquire, (ompt_callback_t)ask);
  set(ompt_callback_mutex_acquired, (ompt_callback_t)take);
  set(ompt_callback_mutex_released, (ompt_callback_t)take);
  return 1;
}
static void finalize(ompt_data_t* tool) {
  (void)tool;
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* library) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version, (void)library;
  return &result;
}
