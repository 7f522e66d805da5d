// Rows of the table of MPI functions: lookup by every spelling, and facts that the analysis relies
// on.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "epilog/format/mpi_functions.h"

namespace kojak {
namespace {

TEST(MpiFunctions, SortedByNameAndUnique) {
  const auto all = mpi_functions();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end(),
                               [](const auto& a, const auto& b) { return a.name == b.name; }),
            all.end());
}

TEST(MpiFunctions, EverySpellingFindsItsFunction) {
  for (const MpiFunction& f : mpi_functions()) {
    std::string small(f.name), large(f.name);
    std::transform(small.begin(), small.end(), small.begin(), ::tolower);
    std::transform(large.begin(), large.end(), large.begin(), ::toupper);
    for (const std::string& name :
         {std::string(f.name), small, large, small + "_", small + "__", large + "_"}) {
      ASSERT_EQ(find_mpi_function(name), &f) << name;
    }
  }
}

TEST(MpiFunctions, OtherRegionsAreNotTaken) {
  for (const char* name : {"", "_", "main", "MPI_", "MPI_Pu", "MPI_Puts", "Mpi_put", "mpi_Put",
                           "PMPI_Put", "my_MPI_Put", "MPI_Alloc", "exchange MPI_Put"}) {
    EXPECT_EQ(find_mpi_function(name), nullptr) << name;
  }
}

TEST(MpiFunctions, ClassesFollowTheMetricTree) {
  const auto row = [](std::string_view name) { return *find_mpi_function(name); };
  EXPECT_EQ(row("MPI_Alloc_mem").cls, MpiClass::kManagement);
  EXPECT_EQ(row("MPI_File_open").cls, MpiClass::kIo);
  EXPECT_EQ(row("MPI_Accumulate").cls, MpiClass::kRmaCommunication);
  EXPECT_EQ(row("MPI_Barrier").cls, MpiClass::kBarrier);
  EXPECT_EQ(row("MPI_Reduce_scatter_block").role, MpiRole::kAllToAll);
  EXPECT_EQ(row("MPI_Win_allocate").role, MpiRole::kWinCreate);
  EXPECT_EQ(row("MPI_Win_flush_local_all").cls, MpiClass::kPassiveTarget);
  EXPECT_EQ(row("MPI_Win_test").cls, MpiClass::kGeneralActiveTarget);
}

TEST(MpiFunctions, WhatBlocksCanAlsoProgress) {
  for (const MpiFunction& f : mpi_functions()) {
    EXPECT_TRUE(f.can_progress || !f.may_block) << f.name;
  }
  for (const char* name :
       {"MPI_Comm_rank", "MPI_Wtime", "MPI_Type_size", "MPI_Group_incl", "MPI_Info_set"}) {
    EXPECT_FALSE(find_mpi_function(name)->can_progress) << name;
  }
  for (const char* name : {"MPI_Put", "MPI_Test", "MPI_Isend", "MPI_Win_post"}) {
    EXPECT_FALSE(find_mpi_function(name)->may_block) << name;
  }
}

}  // namespace
}  // namespace kojak
