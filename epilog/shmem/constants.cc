#include "epilog/shmem/constants.h"

#include <shmem.h>

namespace kojak::measure {

std::uint8_t recorded_comparison(int cmp) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return 1;
    case SHMEM_CMP_NE:
      return 2;
    case SHMEM_CMP_GT:
      return 3;
    case SHMEM_CMP_GE:
      return 4;
    case SHMEM_CMP_LT:
      return 5;
    case SHMEM_CMP_LE:
      return 6;
    default:
      return 0;
  }
}

int not_equal() {
  return SHMEM_CMP_NE;
}

bool is_default_context(Context ctx) {
  return ctx == static_cast<Context>(SHMEM_CTX_DEFAULT);
}

bool is_thread_multiple(int level) {
  return level == SHMEM_THREAD_MULTIPLE;
}

}  // namespace kojak::measure
