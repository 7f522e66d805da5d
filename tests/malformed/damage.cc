#include "tests/malformed/damage.h"

#include <gtest/gtest.h>

#include "epilog/format/check/verify.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/text/print.h"
#include "epilog/format/text/text_reader.h"
#include "tools/region_profile.h"

namespace kojak::test {
namespace {

Result<TraceReader> reader_of(const std::vector<std::byte>& bytes) {
  return TraceReader::from(memory_source(bytes.data(), bytes.size()), "damaged", 4096);
}

}  // namespace

Outcome read_all(const std::vector<std::byte>& bytes) {
  Outcome outcome;
  auto reader = reader_of(bytes);
  if (!reader) {
    outcome.refused = true;
    outcome.explanation = reader.error().message();
    EXPECT_FALSE(reader.error().reason.empty());
    EXPECT_EQ(reader.error().code, ExitCode::kBadInput);
    return outcome;
  }
  const auto verification = verify_trace(*reader);
  if (!verification) {
    outcome.refused = true;
    outcome.explanation = verification.error().message();
  } else {
    for (const Finding& finding : verification->findings) {
      outcome.explanation += finding.message() + "\n";
      EXPECT_GT(finding.count, 0u);
      EXPECT_LE(finding.first_offset, bytes.size());
    }
    outcome.suspicious = verification->worst() != Level::kNote;
  }
  auto printing = reader_of(bytes);
  RawRecord record;
  std::size_t records = 0;
  while (printing->next(record) == TraceReader::Next::kRecord) {
    print_record(record, printing->dialect(), outcome.text);
    outcome.text += '\n';
    ++records;
  }
  if (verification) {
    EXPECT_EQ(verification->records, records);
  }
  auto profiling = reader_of(bytes);
  const auto profile = profile_trace(*profiling);
  EXPECT_EQ(profile.ok(), verification.ok());
  if (profile && verification) {
    EXPECT_EQ(profile->events, verification->events);
  }
  return outcome;
}

std::vector<std::byte> native_merged_trace() {
  const auto trace = text_to_trace(
      "MERGED_RUN run_hi=0x12 run_lo=0x34 size=2 model=1\n"
      "METRIC metid=0 metnid=\"FLOPS\" metdid=\"operations\"\n"
      "NODE nid=0 nnid=\"node\" cr=0.000000001\n"
      "CLOCK_ERROR nid=0 bound=0.000001\n"
      "MPI_GROUP gid=0 mode=1 count=2\n"
      "MPI_COMM_REF cid=0 gid=0\n"
      "COMM_IDENTITY cid=0 hi=0x1 lo=0x2 flags=0\n"
      "COMM_NAME cid=0 cnid=\"halo\"\n"
      "GRAPH_NEIGHBOURS cid=0 pid=0 kind=1 first=0 ranks=[1]\n"
      "MPI_WIN wid=0 cid=0\n"
      "WIN_IDENTITY wid=0 hi=0x3 lo=0x4 flags=0 flavour=1 model=2\n"
      "WIN_NAME wid=0 wnid=\"field\"\n"
      "SHMEM_LOCK_NAME lkid=7 lknid=\"lock\" fid=absent\n"
      "CART_TOPOLOGY topid=0 cid=0 ndims=2 dimv=[1,2] periodv=[0,1] dimnid=[0,0]\n"
      "CART_COORDS topid=0 lid=1 coordv=[0,1]\n"
      "LOST lid=0 what=2 count=3\n"
      "FUNCTIONS_OFF pid=1 groups=8\n"
      "RUN_PROPERTY key=\"mpi.library\" value=\"MPICH\"\n"
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=1 time=0 region=main\n"
      "ENTER_CS lid=0 time=1 region=MPI_Win_fence site=\"halo.c:7\"\n"
      "MPI_ASSERT lid=0 time=1.5 assertion=8\n"
      "MPI_WINCOLLEXIT lid=0 time=2\n"
      "ENTER lid=0 time=2.5 region=MPI_Put\n"
      "MPI_PUT_1TS lid=0 time=2.5 dlid=1 rmaid=0 sent=8\n"
      "EXIT lid=0 time=2.75\n"
      "ENTER lid=1 time=3 region=MPI_Win_post\n"
      "MPI_WINEXIT lid=1 time=3.5 group=[0] synex=0\n"
      "RMA_MARK lid=1 time=3.75 olid=0 rmaid=0 reason=1\n"
      "MPI_PUT_1TE lid=1 time=3.75 slid=0 rmaid=0 recvd=8\n"
      "ATTR_UI4 kind=2 value=0\n"
      "ATTR_UI8 kind=5 value=5000000000\n"
      "MPI_SEND lid=1 time=4 dlid=0 tag=3 sent=absent\n"
      "ENTER_TRACING lid=0 time=4\n"
      "EXIT_TRACING lid=0 time=5\n"
      "WIN_STATE lid=0 time=5 fences=1 open=1\n"
      "EPOCH_STATE lid=0 time=5 plid=1 access=1 exposure=0 ops=1 open=1\n"
      "COLL_STATE lid=0 time=5 count=4\n"
      "MSG_STATE lid=0 time=5 plid=1 sent=1 recvd=0\n"
      "MPI_COLL_BEGIN lid=0 time=5.5 reqid=1 key=0 ordinal=0 op=7 rlid=1 sent=8\n"
      "MPI_PROBED lid=0 time=5.5 slid=1 tag=3\n"
      "MPI_GROUP_CALL lid=0 time=5.5 key=0 ordinal=0\n"
      "MPI_REQUEST_COMPLETE lid=0 time=5.75 reqid=1 kind=1\n"
      "EXIT lid=0 time=6\n"
      "EXIT lid=1 time=6\n");
  EXPECT_TRUE(trace.ok()) << trace.error().message();
  return *trace;
}

std::vector<std::byte> native_local_trace() {
  const auto trace = text_to_trace(
      "LOCAL_RUN size=2 pid=0\n"
      "OFFSET ltime=0 offset=0.5\n"
      "CLOCK_RATE reference=0 factor=1\n"
      "ENTER lid=0 time=0 region=main\n"
      "MPI_RMA_CALL lid=0 time=1 exit=2 region=MPI_Get dlid=1 rmaid=0 bytes=8 kind=2\n"
      "MPI_CALL lid=0 time=2 exit=3 region=MPI_Comm_rank\n"
      "MPI_TEST_CALL lid=0 time=3 exit=4 region=MPI_Test reqid=0\n"
      "ENTER lid=0 time=4 region=MPI_Get\n"
      "MPI_GET_1TS_REMOTE lid=0 time=4 dlid=1 rmaid=1 sent=8\n"
      "MPI_GET_1TE lid=0 time=5 slid=1 rmaid=1 recvd=8\n"
      "EXIT lid=0 time=5\n"
      "MPI_GROUP gid=9 mode=0 count=2 ranks=[1,0]\n"
      "MPI_COMM_REF cid=9 gid=9\n"
      "ENTER lid=0 time=5 region=MPI_Recv\n"
      "MPI_RECV_REQUEST lid=0 time=5 reqid=0\n"
      "MPI_RECV lid=0 time=6 slid=1 cid=9 recvd=4\n"
      "EXIT lid=0 time=7\n"
      "OFFSET ltime=8 offset=0.5\n"
      "EXIT lid=0 time=9\n");
  EXPECT_TRUE(trace.ok()) << trace.error().message();
  return *trace;
}

}  // namespace kojak::test
