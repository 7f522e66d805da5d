// kojak run looks into program files to find their MPI: good ones, and damaged ones.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/temp_dir.h"
#include "tools/kojak/elf_needs.h"
#include "tools/kojak/find_mpi.h"

namespace kojak::run {
namespace {

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

TEST(ElfNeeds, ThisProgramNeedsTheCLibrary) {
  const ElfNeeds needs = read_elf_needs(own_path());
  EXPECT_NE(std::find(needs.libraries.begin(), needs.libraries.end(), "libc.so.6"),
            needs.libraries.end());
  EXPECT_EQ(mpi_of_program(own_path()), "");
}

TEST(ElfNeeds, OtherFilesNeedNothing) {
  test::TempDir dir;
  test::write_file(dir.file("script"), std::string("#!/bin/sh\nexit 0\n"));
  EXPECT_TRUE(read_elf_needs(dir.file("script")).libraries.empty());
  EXPECT_TRUE(read_elf_needs(dir.file("none")).libraries.empty());
  EXPECT_TRUE(read_elf_needs(dir.path().string()).libraries.empty());
}

// Opening a pipe would wait for somebody who writes to it.
TEST(ElfNeeds, PipesNeedNothing) {
  test::TempDir dir;
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0755), 0);
  EXPECT_FALSE(read_elf_needs(dir.file("pipe")).elf);
}

TEST(ElfNeeds, DamageIsSurvived) {
  test::TempDir dir;
  const auto whole = test::read_bytes(own_path());
  const std::string file = dir.file("damaged");
  std::vector<std::byte> bytes(whole.begin(),
                               whole.begin() + std::min<std::ptrdiff_t>(16384, std::ssize(whole)));
  // Prefixes, then every byte of the headers changed.
  for (std::size_t size = 0; size <= 1024; size += 3) {
    test::write_file(file, bytes.data(), size);
    EXPECT_TRUE(read_elf_needs(file).libraries.empty() || size > 64);
  }
  for (std::size_t at = 0; at < 1024; ++at) {
    for (const unsigned change : {0xFFu, 0x80u}) {
      std::vector<std::byte> damaged = whole;
      damaged.resize(std::min<std::size_t>(damaged.size(), 65536));
      damaged[at] ^= static_cast<std::byte>(change);
      test::write_file(file, damaged);
      for (const std::string& library : read_elf_needs(file).libraries) {
        EXPECT_LE(library.size(), damaged.size());
      }
    }
  }
}

TEST(FindMpi, LooksAtTheProgramFirst) {
  const MpiUse none = find_mpi({"sh", "-c", "true"});
  EXPECT_EQ(none.mpi, "");
  EXPECT_FALSE(none.launcher.has_value());
  const std::vector<std::string> mpis{KOJAK_MPI_LIST};
  ASSERT_FALSE(mpis.empty());
  for (const std::string& mpi : mpis) {
    const std::string program = std::string(KOJAK_PROGRAMS) + "/prog_" + mpi;
    const MpiUse use = find_mpi({"env", "A=1", program, "argument"});
    EXPECT_EQ(use.mpi, mpi);
    EXPECT_EQ(use.program, program);
  }
}

}  // namespace
}  // namespace kojak::run
