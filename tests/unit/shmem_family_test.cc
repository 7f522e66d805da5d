#include <gtest/gtest.h>

#include "epilog/shmem/family.h"

namespace kojak::measure {
namespace {

TEST(ShmemFamily, IsToldByTheTextBeforeTheFile) {
  EXPECT_EQ(shmem_family("Sandia OpenSHMEM 1.5.3", "libsma.so.1"), ShmemFamily::kSandia);
  EXPECT_EQ(shmem_family("Sandia OpenSHMEM", "libother.so"), ShmemFamily::kSandia);
  EXPECT_EQ(shmem_family("http://www.open-mpi.org/", "liboshmem.so.40"), ShmemFamily::kOpenMpi);
  EXPECT_EQ(shmem_family("Cray SHMEM", "libsma.so.2"), ShmemFamily::kUnknown);
}

TEST(ShmemFamily, IsToldByTheFileWhereThereIsNoText) {
  EXPECT_EQ(shmem_family("", "libsma.so.1"), ShmemFamily::kSandia);
  EXPECT_EQ(shmem_family("", "liboshmem.so.40"), ShmemFamily::kOpenMpi);
  EXPECT_EQ(shmem_family("", "libshmem.so"), ShmemFamily::kUnknown);
  EXPECT_EQ(shmem_family("", "libsmart.so"), ShmemFamily::kUnknown);
}

// EQ, NE, GT, GE, LT, LE by the headers of both.
TEST(ShmemFamily, ComparisonsAreRecordedByTheirNames) {
  const int sandia[] = {1, 2, 3, 4, 5, 6}, open_mpi[] = {0, 1, 2, 5, 4, 3};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(recorded_comparison(ShmemFamily::kSandia, sandia[i]), i + 1);
    EXPECT_EQ(recorded_comparison(ShmemFamily::kOpenMpi, open_mpi[i]), i + 1);
    EXPECT_EQ(recorded_comparison(ShmemFamily::kUnknown, sandia[i]), 0);
  }
  for (const int none : {-2, 0, 7}) EXPECT_EQ(recorded_comparison(ShmemFamily::kSandia, none), 0);
  for (const int none : {-2, -1, 6}) EXPECT_EQ(recorded_comparison(ShmemFamily::kOpenMpi, none), 0);
}

}  // namespace
}  // namespace kojak::measure
