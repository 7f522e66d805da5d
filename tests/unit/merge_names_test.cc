// Names of communicators, windows and locks: whose counts, and what becomes of it.
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "epilog/format/definitions.h"
#include "tests/support/merge_runs.h"

// A lock as programs have them, in this test's own data.
extern "C" {
long kojak_test_lock = 0;
long kojak_test_locks[4] = {};
struct KojakTestTable {
  int size;
  long lock;
} kojak_test_table = {};
}

namespace kojak::test {
namespace {

// A process that has communicator 3, of identity 5, and window 2 on it.
const std::string kObjects =
    "MPI_GROUP gid=9 mode=0 count=2 ranks=[0,1]\n"
    "MPI_COMM_REF cid=3 gid=9\n"
    "COMM_IDENTITY cid=3 hi=1 lo=5 flags=0\n"
    "MPI_WIN wid=2 cid=3\n"
    "WIN_IDENTITY wid=2 hi=1 lo=6 flags=0\n";

std::string program(std::uint32_t rank) {
  const std::string lid = std::to_string(rank);
  return "ENTER lid=" + lid + " time=0 region=main\nEXIT lid=" + lid + " time=1\n";
}

struct Names {
  std::string comm, window;
  bool operator==(const Names&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Names& names) {
  return out << '"' << names.comm << "\", \"" << names.window << '"';
}
Names names_of(const LocalRun& run) {
  Names names;
  const Definitions defs = run.definitions();
  defs.comms.for_each([&](CommId, const CommDef& comm) {
    if (comm.identity_lo == 5) names.comm = comm.name;
  });
  defs.windows.for_each([&](WindowId, const WindowDef& window) { names.window = window.name; });
  return names;
}
// What the two processes' records make of the names.
Names merged(const std::string& of_0, const std::string& of_1) {
  LocalRun run(2);
  run.add(0, kObjects + of_0 + program(0));
  run.add(1, kObjects + of_1 + program(1));
  run.merge();
  return names_of(run);
}

TEST(MergeNames, TheLowestRankThatHasOneNamesIt) {
  EXPECT_EQ(
      merged("COMM_NAME cid=3 cnid=\"halo\" given=1\n", "COMM_NAME cid=3 cnid=\"x\" given=9\n"),
      (Names{"halo", ""}));
  EXPECT_EQ(merged("", "WIN_NAME wid=2 wnid=\"field\" given=1\n"), (Names{"", "field"}));
  EXPECT_EQ(merged("WIN_NAME wid=2 wnid=\"\" given=2\n", "WIN_NAME wid=2 wnid=\"field\" given=1\n"),
            (Names{"", "field"}))
      << "it was taken away at rank 0, not at rank 1";
}

TEST(MergeNames, TheLastOneOfAProcessCounts) {
  EXPECT_EQ(
      merged("COMM_NAME cid=3 cnid=\"old\" given=1\nCOMM_NAME cid=3 cnid=\"new\" given=2\n", ""),
      (Names{"new", ""}));
  // Behind the first event, when the communicator was used already.
  LocalRun run(2);
  run.add(0, kObjects + "COMM_NAME cid=3 cnid=\"old\" given=1\n" +
                 "ENTER lid=0 time=0 region=main\n"
                 "ENTER lid=0 time=1 region=MPI_Barrier\n"
                 "MPI_COLLEXIT lid=0 time=2 cid=3\n"
                 "COMM_NAME cid=3 cnid=\"new\" given=2\n"
                 "EXIT lid=0 time=3\n");
  run.add(1, kObjects + program(1));
  run.merge();
  EXPECT_EQ(names_of(run), (Names{"new", ""}));
  // Taken away.
  EXPECT_EQ(merged("COMM_NAME cid=3 cnid=\"old\" given=1\nCOMM_NAME cid=3 cnid=\"\" given=2\n", ""),
            (Names{"", ""}));
}

TEST(MergeNames, AnotherThreadMayGiveTheLastOne) {
  const auto threads = [](const std::string& of_0, const std::string& of_1) {
    LocalRun run(2);
    run.add(0, kObjects + of_0 + program(0));
    run.add(0, kObjects + of_1 + program(0), 1);
    run.merge();
    return names_of(run).comm;
  };
  const std::string first = "COMM_NAME cid=3 cnid=\"first\" given=3\n";
  const std::string second = "COMM_NAME cid=3 cnid=\"second\" given=4\n";
  EXPECT_EQ(threads(first, second), "second");
  EXPECT_EQ(threads(second, first), "second");
  EXPECT_EQ(threads(first, ""), "first") << "the other thread defined it before it had a name";
  EXPECT_EQ(threads("", second), "second");
}

TEST(MergeNames, NamesAreTextOfAnyKind) {
  const std::string longest(127, 'x');
  EXPECT_EQ(merged("COMM_NAME cid=3 cnid=\"  the\\tleft\\nhalo\\033[1m\" given=1\n",
                   "WIN_NAME wid=2 wnid=\"" + longest + "\" given=1\n"),
            (Names{"  the\tleft\nhalo\033[1m", longest}));
}

TEST(MergeNames, ClassicFilesHaveNone) {
  LocalRun run(2);
  run.add(0, kObjects + "COMM_NAME cid=3 cnid=\"halo\" given=1\nWIN_NAME wid=2 wnid=\"field\"\n" +
                 program(0));
  run.add(1, kObjects + program(1));
  run.merge();
  EXPECT_EQ(names_of(run), (Names{"halo", "field"}));
  merge::MergeOptions options = run.options();
  options.format = merge::Format::kClassic;
  const auto classic = merge::merge_traces(options);
  ASSERT_TRUE(classic.ok()) << classic.error().message();
  EXPECT_EQ((*classic)[merge::Finding::kNativeLeftOut].count, 2u);
}

// Where this program was loaded, and its build id as a text trace has it.
struct Program {
  std::uintptr_t base = 0;
  std::string build_id = "[]";
};
int take_program(dl_phdr_info* info, std::size_t, void* data) {
  auto& program = *static_cast<Program*>(data);
  program.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const char* const end = at + info->dlpi_phdr[i].p_memsz;
    while (at + sizeof(ElfW(Nhdr)) < end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const id = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && std::memcmp(name, "GNU", 4) == 0) {
        program.build_id = "[";
        for (std::size_t b = 0; b < note.n_descsz; ++b) {
          program.build_id += (b == 0 ? "" : ",") + std::to_string(std::uint8_t(id[b]));
        }
        program.build_id += "]";
        return 1;
      }
      at = id + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return 1;  // the first one is the program
}

// The name of what is at an address of this program.
std::string variable_at(const void* address) {
  char path[PATH_MAX] = {};
  if (::readlink("/proc/self/exe", path, sizeof path - 1) < 0) return "no program";
  Program program;
  dl_iterate_phdr(take_program, &program);
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - program.base;
  LocalRun run(1);
  run.add(0, "LOCAL_MODULE module=4 pathid=\"" + std::string(path) +
                 "\" build_id=" + program.build_id + "\nLOCAL_LOCK lkid=77 module=4 address=" +
                 std::to_string(offset) + "\n" + test::program(0));
  run.merge();
  const Definitions defs = run.definitions();
  const VariableDef* const found = defs.shmem_locks.find(LockId{77});
  return found != nullptr ? found->name : "none";
}

// (Where this test is built without debugging information, parts of a variable are offsets.)
TEST(MergeNames, ALockIsTheVariableAtItsAddress) {
  EXPECT_EQ(variable_at(&kojak_test_lock), "kojak_test_lock");
  const std::string third = variable_at(&kojak_test_locks[2]);
  EXPECT_TRUE(third == "kojak_test_locks[2]" || third == "kojak_test_locks+16") << third;
  const std::string member = variable_at(&kojak_test_table.lock);
  EXPECT_TRUE(member == "kojak_test_table.lock" || member == "kojak_test_table+8") << member;
  EXPECT_EQ(variable_at(nullptr), "none");
}

TEST(MergeNames, ALockInAProgramThatIsGoneHasNone) {
  LocalRun run(1);
  run.add(0,
          "LOCAL_MODULE module=4 pathid=\"/nowhere/prog\" build_id=[1]\n"
          "LOCAL_LOCK lkid=77 module=4 address=16\nLOCAL_LOCK lkid=78 module=9 address=16\n" +
              program(0));
  run.merge();
  EXPECT_TRUE(run.definitions().shmem_locks.empty());
}

}  // namespace
}  // namespace kojak::test
