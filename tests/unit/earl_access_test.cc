// Random access against streaming, on the reference traces and on random ones; caches, damage.
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "epilog/format/compact/pack.h"
#include "epilog/format/io/compression.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

TEST(EarlAccess, ReferenceTracesAnywhere) {
  for (const char* name : {"gats.elg", "fence.elg"}) {
    const auto bytes = test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name);
    expect_same_access(bytes, 1, 120);
    expect_same_analysis(bytes);
  }
}

// Each text trace of tests/cases, up to the severities that its report has.
TEST(EarlAccess, CasesAnywhere) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KOJAK_CASES_DIR)) {
    if (entry.path().extension() != ".case") continue;
    std::ifstream in(entry.path());
    std::string text;
    for (std::string line; std::getline(in, line) && line != "--- severities";) text += line + '\n';
    const auto bytes = text_to_trace(text);
    ASSERT_TRUE(bytes) << entry.path();
    expect_same_access(*bytes, 1, 40);
    if (testing::Test::HasFatalFailure()) FAIL() << entry.path();
    ++cases;
  }
  EXPECT_GT(cases, 70);
}

// Records of all kinds with random small numbers, in balanced regions: nothing that a program could
// do, but everything that the aspects have to cope with.
std::vector<std::byte> random_trace(unsigned seed, int events) {
  std::mt19937 random(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const char* const regions[] = {
      "main",         "work",          "MPI_Send",         "MPI_Recv",
      "MPI_Waitall",  "MPI_Win_start", "MPI_Win_complete", "MPI_Win_post",
      "MPI_Win_wait", "MPI_Win_fence", "MPI_Put",          "MPI_Barrier"};
  const char* const win_regions[] = {"MPI_Win_start", "MPI_Win_complete", "MPI_Win_post",
                                     "MPI_Win_wait", "MPI_Win_test"};
  std::ostringstream out;
  out << "MPI_WIN wid=0 cid=0\nMPI_WIN wid=1 cid=0\n";
  std::ostringstream body;
  constexpr unsigned kRanks = 3;
  std::vector<unsigned> depth(kRanks);
  std::vector<std::vector<std::pair<unsigned, unsigned>>> open(
      kRanks);  // transfers: target, window
  std::vector<unsigned> next_rma(kRanks), next_request(kRanks);
  std::vector<std::vector<unsigned>> sends(kRanks), posts(kRanks);
  struct Transfer {
    unsigned origin, target, window, rmaid;
    bool get;
  };
  std::vector<Transfer> transfers;
  for (int i = 0; i < events; ++i) {
    const unsigned l = pick(kRanks), peer = pick(kRanks), w = pick(2), tag = pick(3);
    const std::string at = " lid=" + std::to_string(l) + " time=" + std::to_string(i) + " ";
    switch (pick(22)) {
      case 0:
      case 1:
      case 2:
        body << "ENTER" << at << "region=" << regions[pick(12)] << '\n';
        ++depth[l];
        break;
      case 3:
      case 4:
        if (depth[l] == 0) break;
        --depth[l];
        body << "EXIT" << at << '\n';
        break;
      case 5:
        body << "MPI_SEND" << at << "dlid=" << peer << " tag=" << tag << " sent=8\n";
        break;
      case 6:
        sends[l].push_back(next_request[l]);
        body << "ATTR_UI4 kind=2 value=" << next_request[l]++ << "\nMPI_SEND" << at
             << "dlid=" << peer << " tag=" << tag << " sent=8\n";
        break;
      case 7:
        body << "MPI_RECV" << at << "slid=" << peer << " tag=" << tag << " recvd=8\n";
        break;
      case 8:
        posts[l].push_back(next_request[l]);
        body << "MPI_RECV_REQUEST" << at << "reqid=" << next_request[l]++;
        if (pick(3) != 0) body << " slid=" << peer;
        if (pick(3) != 0) body << " tag=" << tag;
        body << '\n';
        break;
      case 9:
        if (posts[l].empty()) break;
        body << "ATTR_UI4 kind=2 value=" << posts[l].back() << "\nMPI_RECV" << at << "slid=" << peer
             << " tag=" << tag << " recvd=8\n";
        posts[l].erase(posts[l].begin() + pick(static_cast<unsigned>(posts[l].size())));
        break;
      case 10:
        if (sends[l].empty()) break;
        body << (pick(8) == 0   ? "MPI_CANCELLED"
                 : pick(8) == 0 ? "MPI_REQUEST_FREED"
                                : "MPI_SEND_COMPLETE")
             << at << "reqid=" << sends[l].back() << '\n';
        sends[l].pop_back();
        break;
      case 11:
        body << "ENTER" << at << "region=" << win_regions[pick(5)] << "\nMPI_WINEXIT" << at
             << "wid=" << w << " group=[" << (pick(2) != 0 ? "0,1,2" : std::to_string(peer))
             << "] synex=" << pick(2) << '\n';
        break;
      case 12:
        body << "ENTER" << at << "region=MPI_Win_fence\nMPI_WINCOLLEXIT" << at << "wid=" << w
             << '\n';
        break;
      case 13:
      case 14: {
        const bool get = pick(3) == 0;
        const unsigned rmaid = next_rma[l]++;
        transfers.push_back({l, peer, w, rmaid, get});
        const std::string rest =
            " wid=" + std::to_string(w) + " rmaid=" + std::to_string(rmaid) + " sent=8\n";
        if (get) {
          body << "MPI_GET_1TO" << at << "rmaid=" << rmaid << " wid=" << w << '\n';
          body << "MPI_GET_1TS lid=" << peer << " time=" << i << " dlid=" << l << rest;
        } else {
          body << "MPI_PUT_1TS" << at << "dlid=" << peer << rest;
        }
        break;
      }
      case 15: {
        if (transfers.empty()) break;
        const std::size_t n = pick(static_cast<unsigned>(transfers.size()));
        const Transfer t = transfers[n];
        transfers.erase(transfers.begin() + static_cast<std::ptrdiff_t>(n));
        body << (t.get ? "MPI_GET_1TE" : "MPI_PUT_1TE") << " lid=" << (t.get ? t.origin : t.target)
             << " time=" << i << " slid=" << (t.get ? t.target : t.origin) << " wid=" << t.window
             << " rmaid=" << t.rmaid << " recvd=8\n";
        break;
      }
      case 16:
        body << "MPI_WIN_LOCK" << at << "llid=" << peer << " wid=" << w << " ltype=" << pick(2)
             << '\n';
        break;
      case 17:
        body << "MPI_WIN_UNLOCK" << at << "llid=" << peer << " wid=" << w << '\n';
        break;
      case 18:
        body << (pick(2) != 0 ? "MPI_WIN_LOCK_ALL" : "MPI_WIN_UNLOCK_ALL") << at << "wid=" << w
             << '\n';
        break;
      case 19:
        body << "MPI_WIN_FLUSH" << at << "tlid=" << peer << " wid=" << w << " local=0\n";
        break;
      case 20:
        body << "ENTER" << at << "region=MPI_Barrier\nMPI_COLLEXIT" << at << "cid=0\n";
        break;
      default:
        switch (pick(6)) {
          case 0:
            body << "OMP_FORK" << at << '\n';
            break;
          case 1:
            body << "OMP_JOIN" << at << '\n';
            break;
          case 2:
            body << (pick(2) != 0 ? "OMP_ALOCK" : "OMP_RLOCK") << at << "lkid=" << tag << '\n';
            break;
          case 3:
            body << "LOG_OFF" << at << "\nLOG_ON" << at << '\n';
            break;
          case 4:
            body << "EPOCH_STATE" << at << "wid=" << w << " plid=" << peer << " access=" << pick(9)
                 << " exposure=" << pick(9) << " ops=0 open=" << pick(16) << '\n';
            break;
          default:
            body << "MSG_STATE" << at << "cid=0 plid=" << peer << " tag=" << tag
                 << " sent=" << pick(20) << " recvd=" << pick(20) << '\n';
        }
    }
  }
  auto made = text_to_trace(out.str() + body.str());
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  return made ? *made : std::vector<std::byte>();
}

void expect_same_access_to_random_traces(unsigned first, unsigned last) {
  for (unsigned seed = first; seed <= last; ++seed) {
    const auto bytes = random_trace(seed, 600);
    expect_same_access(bytes, seed, 120);
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(EarlAccess, RandomTracesAnywhere) {
  expect_same_access_to_random_traces(1, 4);
}
TEST(EarlAccess, MoreRandomTracesAnywhere) {
  expect_same_access_to_random_traces(5, 20);
}

// Of several blocks, with and without checksums.
TEST(EarlAccess, CompactTracesSayTheSame) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const auto bytes = random_trace(seed, 2000);
    const auto native = Archive::from(bytes, "a");
    ASSERT_TRUE(native);
    for (const auto blocks : {compact::Blocks::kPlain, compact::Blocks::kChecked}) {
      const auto packed = compact::pack(bytes, blocks);
      ASSERT_LT(packed.size(), bytes.size());
      expect_same_access(packed, seed, 100);
      const auto archive = Archive::from(packed, "a");
      ASSERT_TRUE(archive);
      ASSERT_EQ(archive->size(), native->size());
      EXPECT_FALSE(archive->damage());
      // Many threads, each from another place on.
      std::vector<std::thread> threads;
      std::atomic<std::uint64_t> different{0};
      for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (std::uint64_t n = 0; n < archive->size(); ++n) {
            const std::uint64_t pos = (n * 7919 + t * archive->size() / 4) % archive->size();
            const Event a = (*archive)[pos], b = (*native)[pos];
            different += a.type != b.type || a.loc != b.loc || a.time.value != b.time.value ||
                         a.reg != b.reg || a.enterptr != b.enterptr || a.rmaid != b.rmaid ||
                         archive->sendptr(pos) != native->sendptr(pos);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(different, 0u);
    }
  }
}

TEST(EarlAccess, CountersOfCompactTracesOutliveTheirBlocks) {
  std::string text = "METRIC metid=0 metnid=\"C\"\n";
  for (int i = 0; i < 4000; ++i) {
    text += "ENTER lid=0 time=" + std::to_string(i) + " region=main metv=[" +
            std::to_string(i * 3) + "]\n";
  }
  const auto bytes = text_to_trace(text);
  ASSERT_TRUE(bytes) << bytes.error().message();
  for (const bool packed : {false, true}) {
    const auto archive = Archive::from(packed ? compact::pack(*bytes) : *bytes, "a");
    ASSERT_TRUE(archive);
    ASSERT_EQ(archive->size(), 4000u);
    for (std::uint64_t pos = 0; pos < 4000; pos += 97) {
      EXPECT_EQ(archive->values(pos), std::vector<std::uint64_t>{pos * 3});
    }
  }
}

TEST(EarlAccess, ACompressedTraceIsPutAside) {
  const test::TempDir dir;
  const auto bytes = random_trace(6, 500);
  const auto native = Archive::from(bytes, "a");
  for (const Compression how : {Compression::kGzip, Compression::kZstd}) {
    const std::string path = dir.file("a.elg");
    auto file = OutputFile::create(path);
    const auto compressor = make_compressor(how);
    ASSERT_TRUE(compressor->write(*file, bytes.data(), bytes.size()).ok());
    ASSERT_TRUE(compressor->finish(*file).ok());
    ASSERT_TRUE(file->commit().ok());
    const auto archive = Archive::open(path);
    ASSERT_TRUE(archive) << archive.error().message();
    ASSERT_EQ(archive->size(), native->size());
    EXPECT_EQ((*archive)[400].time.value, (*native)[400].time.value);
    auto cut = test::read_bytes(path);
    cut.resize(cut.size() - 10);
    test::write_file(path, cut);
    const auto part = Archive::open(path);
    if (how == Compression::kZstd) {  // one block: nothing of it can be had
      EXPECT_FALSE(part);
      EXPECT_EQ(part.error().reason, "the compressed file is truncated");
    } else {
      ASSERT_TRUE(part);
      EXPECT_EQ(part->damage()->reason, "the compressed file is truncated");
    }
  }
}

TEST(EarlAccess, ADamagedTraceIsReadUpToTheDamage) {
  const auto whole = random_trace(77, 120);
  auto complete = Archive::from(whole, "whole");
  ASSERT_TRUE(complete);
  const std::uint64_t begin = complete->trace().offset();
  std::uint64_t last = 0;
  for (std::uint64_t size = begin; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    auto archive = Archive::from(cut, "cut");
    ASSERT_TRUE(archive);
    ASSERT_GE(archive->size(), last);
    last = archive->size();
    // Also where it ends with a whole record: the definitions announce more.
    ASSERT_TRUE(archive->damage()) << size;
    EXPECT_EQ(archive->damage()->file, "cut");
    EXPECT_LE(archive->damage()->offset.value_or(size), size);
    if (last == 0) continue;
    const Event a = (*archive)[last - 1], b = (*complete)[last - 1];
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.enterptr, b.enterptr);
    if (size % 16 != 0) continue;
    EXPECT_EQ(describe(*archive->state(last - 1), archive->trace()),
              describe(*complete->state(last - 1), complete->trace()));
  }
  EXPECT_EQ(last, complete->size() - 1);
}

TEST(EarlAccess, TheIndexIsKeptBesideTheTraceAndUsedOnlyForIt) {
  const test::TempDir dir;
  const std::string path = dir.file("a.elg"), cache = path + ".earl";
  test::write_file(path, random_trace(3, 900));
  auto first = Archive::open(path, {true});
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->from_cache());
  EXPECT_FALSE(first->cache_error());
  auto second = Archive::open(path, {true});
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->from_cache());
  ASSERT_EQ(second->size(), first->size());
  for (std::uint64_t pos = 0; pos < first->size(); pos += 37) {
    EXPECT_EQ(second->sendptr(pos), first->sendptr(pos));
    EXPECT_EQ(second->requestptr(pos), first->requestptr(pos));
    EXPECT_EQ(second->cnodeptr(pos), first->cnodeptr(pos));
    EXPECT_EQ(describe(*second->state(pos), second->trace()),
              describe(*first->state(pos), first->trace()));
  }
  // Any byte changed, or cut off: not used, and made anew.
  const std::vector<std::byte> kept = test::read_bytes(cache);
  for (std::size_t i = 0; i < kept.size(); i += 1 + kept.size() / 40) {
    std::vector<std::byte> bad = kept;
    bad[i] ^= std::byte{0x40};
    test::write_file(cache, bad);
    auto archive = Archive::open(path, {true});
    ASSERT_TRUE(archive);
    EXPECT_FALSE(archive->from_cache()) << i;
    bad.resize(i);
    test::write_file(cache, bad);
    EXPECT_FALSE(Archive::open(path, {true})->from_cache()) << i;
  }
  // Another trace under the same name.
  test::write_file(path, random_trace(4, 900));
  auto other = Archive::open(path, {true});
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->from_cache());
  // Nowhere to keep it: said, and everything works without.
  std::remove(cache.c_str());
  ASSERT_EQ(::mkdir(cache.c_str(), 0755), 0);
  auto without = Archive::open(path, {true});
  ASSERT_TRUE(without);
  ASSERT_TRUE(without->cache_error());
  EXPECT_EQ(without->cache_error()->code, ExitCode::kOutputFailed);
  EXPECT_EQ(without->size(), other->size());
}

TEST(EarlAccess, ErrorsAreTyped) {
  auto none = Archive::open("/nonexistent/a.elg");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ExitCode::kBadInput);
  EXPECT_EQ(none.error().file, "/nonexistent/a.elg");
  auto empty = Archive::from({}, "empty");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ExitCode::kBadInput);
}

TEST(EarlAccess, MemoryIsWithinItsBoundAndTimesAreFound) {
  // Nothing ever closes in a random trace, and its epochs have partners that never come.
  const auto bytes = random_trace(5, 20000);
  auto archive = Archive::from(bytes, "a");
  ASSERT_TRUE(archive);
  ASSERT_GT(archive->size(), 15000u);
  EXPECT_LE(archive->index().memory(), 24 * archive->size());
  std::uint64_t pos = archive->first_at({5000});
  EXPECT_GE((*archive)[pos].time.value, 5000);
  EXPECT_LT((*archive)[pos - 1].time.value, 5000);
  EXPECT_EQ(archive->first_at({1e9}), archive->size());
  std::uint64_t n = 0;
  archive->for_each(100, 200, [&](const Event& e) {
    const Event same = (*archive)[e.pos];
    EXPECT_EQ(e.reg, same.reg);
    EXPECT_EQ(e.enterptr, same.enterptr);
    ++n;
  });
  EXPECT_EQ(n, 100u);
}

}  // namespace
}  // namespace kojak::earl
