// The table of SHMEM functions: templates become the functions of each type, and names lead to
// roles.
#include <gtest/gtest.h>

#include "epilog/format/shmem_functions.h"

namespace kojak {
namespace {

TEST(ShmemFunctions, EveryFunctionIsFoundByItsName) {
  for (const ShmemFunction& f : shmem_functions()) {
    const ShmemFunction* const found = find_shmem_function(f.name);
    ASSERT_NE(found, nullptr) << f.name;
    EXPECT_EQ(found->name, f.name);
  }
}

TEST(ShmemFunctions, OtherNamesAreNot) {
  for (const char* name : {"", "shmem", "shmem_", "shmemory_of_mine", "shmem_long_puts", "zzz",
                           "SHMEM_PUT64", "pshmem_long_put"}) {
    EXPECT_EQ(find_shmem_function(name), nullptr) << name;
  }
}

TEST(ShmemFunctions, TemplatesHaveTheirTypesAndContexts) {
  // 24 types, each with and without a context.
  int puts = 0;
  for (const ShmemFunction& f : shmem_functions()) {
    const bool ends = f.name.size() > 4 && f.name.substr(f.name.size() - 4) == "_put";
    if (f.role == ShmemRole::kPut && ends) ++puts;
  }
  EXPECT_EQ(puts, 48);
}

TEST(ShmemFunctions, RolesOfSome) {
  const auto role = [](const char* name) { return find_shmem_function(name)->role; };
  EXPECT_EQ(role("shmem_putmem_nbi"), ShmemRole::kPutNbi);
  EXPECT_EQ(role("shmem_ctx_double_iget"), ShmemRole::kGetStrided);
  EXPECT_EQ(role("shmem_int_fadd"), ShmemRole::kAtomicGetPut);
  EXPECT_EQ(role("shmem_ulong_atomic_fetch"), ShmemRole::kAtomicGet);
  EXPECT_EQ(role("shmem_barrier_all"), ShmemRole::kBarrier);
  EXPECT_EQ(role("shmem_sync_all"), ShmemRole::kSync);
  EXPECT_EQ(role("shmem_longlong_sum_to_all"), ShmemRole::kReduce);
  EXPECT_EQ(role("shmem_size_wait_until"), ShmemRole::kWaitUntil);
  EXPECT_EQ(role("start_pes"), ShmemRole::kInit);
  EXPECT_TRUE(find_shmem_function("shmem_getmem")->may_block);
  EXPECT_FALSE(find_shmem_function("shmem_putmem")->may_block);
  EXPECT_FALSE(find_shmem_function("shmem_my_pe")->can_progress);
}

TEST(ShmemFunctions, RegionsOfUpcHaveRoles) {
  for (const ShmemFunction& f : upc_functions()) EXPECT_EQ(find_shmem_function(f.name), &f);
  EXPECT_EQ(find_shmem_function("upc_notify")->role, ShmemRole::kNotify);
  EXPECT_EQ(find_shmem_function("upc_all_reduce")->role, ShmemRole::kReduceToOne);
  EXPECT_EQ(find_shmem_function("upc_lock")->model, PgasModel::kUpc);
  EXPECT_EQ(find_shmem_function("upc_forall"), nullptr);
  EXPECT_EQ(find_shmem_function("upc_"), nullptr);
}

}  // namespace
}  // namespace kojak
