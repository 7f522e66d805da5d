// Each rule of the format that the verifier checks, by a trace that breaks it; and clean traces.
#include <gtest/gtest.h>

#include "epilog/format/check/verify.h"
#include "epilog/format/text/text_reader.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

Verification verified(const std::vector<std::byte>& trace) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "memory");
  EXPECT_TRUE(reader.ok());
  auto result = verify_trace(*reader);
  EXPECT_TRUE(result.ok());
  return result ? *result : Verification{};
}

Verification verified(const std::string& text) {
  const auto trace = text_to_trace(text);
  EXPECT_TRUE(trace.ok()) << trace.error().message();
  return trace ? verified(*trace) : Verification{};
}

std::string all(const Verification& verification) {
  std::string text;
  for (const Finding& finding : verification.findings) text += finding.message() + "\n";
  return text;
}

// The one finding, if there is exactly one.
Finding only(const Verification& verification) {
  EXPECT_EQ(verification.findings.size(), 1u) << all(verification);
  return verification.findings.empty() ? Finding{} : verification.findings[0];
}

TEST(Verify, CallersOfCallSitesMustBeKnownAndEnd) {
  const std::string sites =
      "STRING strid=0 cntc=0 str=\"f\"\n"
      "REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
      "CALL_SITE csid=0 fid=absent lno=1 erid=0 lrid=0\n"
      "CALL_SITE csid=1 fid=absent lno=2 erid=0 lrid=0\n"
      "CALL_SITE_CALLER csid=1 caller=0\n";
  const std::string events = "ENTER_CS lid=0 time=0 csid=1\nEXIT lid=0 time=1\n";
  EXPECT_TRUE(verified(sites + events).findings.empty()) << all(verified(sites + events));
  const Finding ring = only(verified(sites + "CALL_SITE_CALLER csid=0 caller=1\n" + events));
  EXPECT_EQ(ring.what, "names a caller that is one of its own, or too far");
  const Finding itself = only(verified(sites + "CALL_SITE_CALLER csid=0 caller=0\n" + events));
  EXPECT_EQ(itself.what, ring.what);
  const Finding unknown = only(verified(sites + "CALL_SITE_CALLER csid=1 caller=7\n" + events));
  EXPECT_EQ(unknown.field, "caller");
  EXPECT_EQ(unknown.what, "no call site with this identifier is defined before");
  EXPECT_EQ(only(verified(sites + "CALL_SITE_CALLER csid=7 caller=0\n" + events)).field, "csid");
}

// Each optional field once without what it may name: the communicator of a topology, the caller of
// a call site, the root of a barrier, the target of a flush, the line of a sample.
TEST(Verify, OptionalFieldsMayBeAbsent) {
  const Verification result = verified(
      "STRING strid=0 cntc=0 str=\"f\"\n"
      "REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
      "CALL_SITE csid=0 fid=absent lno=1 erid=0 lrid=absent\n"
      "CART_TOPOLOGY topid=0 cid=absent ndims=1 dimv=[1] periodv=[0] topnid=absent dimnid=[0]\n"
      "ENTER lid=0 time=0 region=f\n"
      "SAMPLE lid=0 time=0.25 csid=absent count=1\n"
      "MPI_WIN_FLUSH lid=0 time=0.5 tlid=absent wid=0 local=0\n"
      "EXIT lid=0 time=1\n"
      "ENTER lid=0 time=2 region=MPI_Barrier\n"
      "MPI_COLLEXIT lid=0 time=3 rlid=absent cid=0 sent=0 recvd=0\n");
  EXPECT_TRUE(result.findings.empty()) << all(result);
}

TEST(Verify, ReferenceTracesAreClean) {
  for (const char* name : {"fence", "gats"}) {
    const Verification result =
        verified(test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name + ".elg"));
    EXPECT_TRUE(result.findings.empty()) << all(result);
    EXPECT_FALSE(result.local);
    EXPECT_GT(result.events, 0u);
    EXPECT_EQ(result.worst(), Level::kNote);
  }
}

const char* const kMerged =
    "ENTER lid=0 time=0 region=main\n"
    "ENTER lid=1 time=0 region=main\n"
    "ENTER lid=0 time=1 region=MPI_Win_fence\n"
    "MPI_WINCOLLEXIT lid=0 time=2\n"
    "ENTER lid=0 time=3 region=MPI_Win_start\n"
    "MPI_WINEXIT lid=0 time=4 group=[1] synex=0\n"
    "ENTER_TRACING lid=0 time=5\n"
    "EXIT_TRACING lid=0 time=6\n"
    "ATTR_UI8 kind=5 value=5000000000\n"
    "MPI_SEND lid=0 time=6 dlid=1 sent=absent\n"
    "EXIT lid=0 time=7\n"
    "EXIT lid=1 time=7\n";

TEST(Verify, ANativeMergedTraceIsClean) {
  const Verification result = verified(std::string(kMerged));
  EXPECT_TRUE(result.findings.empty()) << all(result);
  EXPECT_EQ(result.events, 11u);
}

TEST(Verify, ALocalTraceIsClean) {
  const Verification result = verified(
      std::string("LOCAL_RUN size=2 pid=1\n"
                  "ENTER lid=1 time=0 region=main\n"
                  "MPI_RMA_CALL lid=1 time=1 exit=2 region=MPI_Put dlid=0 rmaid=0 bytes=8 kind=1\n"
                  "MPI_CALL lid=1 time=3 exit=4 region=MPI_Comm_rank\n"
                  "ENTER lid=1 time=5 region=MPI_Put\n"
                  "MPI_PUT_1TS lid=1 time=5 dlid=0 rmaid=1 sent=8\n"
                  "MPI_PUT_1TE_REMOTE lid=1 time=6 dlid=0 rmaid=1 recvd=8\n"
                  "EXIT lid=1 time=6\n"
                  "EXIT lid=1 time=7\n"));
  EXPECT_TRUE(result.findings.empty()) << all(result);
  EXPECT_TRUE(result.local);
}

struct Broken {
  const char* name;
  std::string text;
  std::string message;  // what the finding says, without what follows the place
  Level level;
};

class Rules : public testing::TestWithParam<Broken> {};

TEST_P(Rules, ABreachIsFound) {
  const Verification result = verified(GetParam().text);
  const Finding finding = only(result);
  const std::string message = finding.message();
  EXPECT_EQ(message.substr(0, GetParam().message.size()), GetParam().message);
  EXPECT_EQ(finding.level, GetParam().level);
  EXPECT_FALSE(finding.advice.empty());
  EXPECT_EQ(result.worst(), GetParam().level);
}

const std::string kEnter = "ENTER lid=0 time=0 region=main\n";

INSTANTIATE_TEST_SUITE_P(
    Format, Rules,
    testing::Values(
        Broken{"UnknownType", kEnter + "UNKNOWN type=250 body=[1]\nEXIT lid=0 time=1\n",
               "record type 250 is of unknown type (at offset ", Level::kWarning},
        Broken{"UnknownAttribute", "UNKNOWN type=98 body=[]\n" + kEnter + "EXIT lid=0 time=1\n",
               "record type 98 is of unknown type (at offset ", Level::kWarning},
        Broken{"Bookkeeping", "EVENT_TYPES bytes=[1,2]\n" + kEnter + "EXIT lid=0 time=1\n",
               "EVENT_TYPES is bookkeeping of the classic tools (", Level::kNote},
        Broken{"TooShort",
               kEnter + "UNKNOWN type=118 body=[0,0,0,0,0,0,0,0,0,0,0,0]\nEXIT lid=0 "
                        "time=1\n",
               "MPI_WINCOLLEXIT.wid the record is too short for this field", Level::kError},
        Broken{"TooLong",
               "UNKNOWN type=12 body=[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,7]\n" + kEnter +
                   "EXIT lid=0 time=1\n",
               "OFFSET the record is longer than this version", Level::kWarning},
        Broken{"UnknownRegion", "ENTER lid=0 time=0 rid=9\nEXIT lid=0 time=1\n",
               "ENTER.rid no region with this identifier is defined before", Level::kError},
        Broken{"UnknownComm", kEnter + "MPI_SEND lid=0 time=0 dlid=0 cid=5\nEXIT lid=0 time=1\n",
               "MPI_SEND.cid no communicator with this identifier", Level::kError},
        Broken{"UnknownString", "FILE fid=0 fnid=77\n" + kEnter + "EXIT lid=0 time=1\n",
               "FILE.fnid no string with this identifier", Level::kError},
        Broken{"UnknownGroup", "MPI_COMM_REF cid=0 gid=7\n" + kEnter + "EXIT lid=0 time=1\n",
               "MPI_COMM_REF.gid no group with this identifier", Level::kError},
        Broken{"UnknownMachine",
               "MACHINE mid=0\nNODE nid=0 mid=5\n" + kEnter + "EXIT lid=0 time=1\n",
               "NODE.mid no machine with this identifier", Level::kError},
        Broken{"AbsentWindow", kEnter + "MPI_WIN_SYNC lid=0 time=1 wid=absent\nEXIT lid=0 time=1\n",
               "MPI_WIN_SYNC.wid is absent", Level::kError},
        Broken{"TwiceDefined",
               "REGION rid=0 rnid=\"a\"\nREGION rid=0 rnid=\"b\"\nENTER lid=0 time=0 rid=0\nEXIT "
               "lid=0 time=1\n",
               "REGION.rid is defined twice", Level::kWarning},
        Broken{"TimeGoesBack", kEnter + "EXIT lid=0 time=-1\n",
               "EXIT.time is before that of the event in front of it", Level::kError},
        Broken{"TimeIsNoNumber", kEnter + "EXIT lid=0 time=nan\n", "EXIT.time is no finite number",
               Level::kError},
        Broken{"NothingToLeave", kEnter + "EXIT lid=0 time=1\nEXIT lid=0 time=2\n",
               "EXIT leaves a region where none is open", Level::kError},
        Broken{"StillOpen", kEnter, "regions are still open on a location at the end",
               Level::kWarning},
        Broken{"CrossedPause",
               kEnter + "LOG_OFF lid=0 time=1\nEXIT lid=0 time=2\nEXIT lid=0 time=3\n",
               "EXIT leaves a region that is not the innermost one", Level::kError},
        Broken{"WrongExit",
               kEnter + "ENTER lid=0 time=1 region=MPI_Put\nMPI_WINCOLLEXIT lid=0 time=2\nEXIT "
                        "lid=0 time=3\n",
               "MPI_WINCOLLEXIT leaves a region that is no call of this kind", Level::kWarning},
        Broken{"WrongWindowExit",
               kEnter + "ENTER lid=0 time=1 region=MPI_Win_fence\nMPI_WINEXIT lid=0 time=2 synex=0 "
                        "cid=absent\nEXIT lid=0 time=3\n",
               "MPI_WINEXIT leaves a region that is no call of this kind", Level::kWarning},
        Broken{"Synex",
               kEnter + "ENTER lid=0 time=1 region=MPI_Win_post\nMPI_WINEXIT lid=0 time=2 synex=2 "
                        "cid=absent\nEXIT lid=0 time=3\n",
               "MPI_WINEXIT.synex has a value without a meaning", Level::kError},
        Broken{"LockType", kEnter + "MPI_WIN_LOCK lid=0 time=1 llid=0 ltype=7\nEXIT lid=0 time=3\n",
               "MPI_WIN_LOCK.ltype has a value without a meaning", Level::kError},
        Broken{"NoByteCount",
               kEnter + "MPI_SEND lid=0 time=1 dlid=0 sent=absent\nEXIT lid=0 time=3\n",
               "MPI_SEND a byte count stands in an ATTR_UI8 that is not there", Level::kError},
        Broken{"LocalRecordInMergedTrace",
               kEnter + "MPI_CALL lid=0 time=1 exit=2 region=f\nEXIT lid=0 time=3\n",
               "MPI_CALL belongs into local traces only", Level::kError},
        Broken{"RemoteEventInMergedTrace",
               kEnter + "MPI_PUT_1TE_REMOTE lid=0 time=1 dlid=0 rmaid=0\nEXIT lid=0 time=3\n",
               "MPI_PUT_1TE_REMOTE belongs into local traces only", Level::kError},
        Broken{"NativeRecordInClassicTrace",
               "EPILOG 1.9\nUNKNOWN type=45 body=[0,0,0,0,0,0,0,0,0,0,0,0]\n" + kEnter +
                   "EXIT lid=0 time=1\n",
               "CLOCK_ERROR has no place in a classic trace", Level::kError},
        Broken{"ForeignLocation",
               "LOCAL_RUN size=2 pid=0\n" + kEnter +
                   "EXIT lid=0 time=1\nMPI_REQUEST_TESTED lid=1 "
                   "time=2 reqid=0\n",
               "MPI_REQUEST_TESTED.lid a local trace has one location only", Level::kError},
        Broken{"CallEndsBeforeItBegins",
               "LOCAL_RUN size=2 pid=0\nMPI_CALL lid=0 time=2 exit=1 region=f\n",
               "MPI_CALL.exit is before the call's enter", Level::kError},
        Broken{"NextStartsInsideAWholeCall",
               "LOCAL_RUN size=2 pid=0\nMPI_CALL lid=0 time=2 exit=4 region=f\n"
               "MPI_CALL lid=0 time=3 exit=5 region=f\n",
               "MPI_CALL.time is before that of the event in front of it", Level::kError},
        Broken{"AttributeWithoutEvent",
               "LOCAL_RUN size=1 pid=0\nATTR_UI4 kind=2 value=1\nSTRING strid=0 str=\"x\"\n",
               "ATTR_UI4 no event follows this attribute", Level::kWarning},
        Broken{"AttributeKind", kEnter + "ATTR_UI4 kind=10 value=1\nEXIT lid=0 time=1\n",
               "ATTR_UI4.kind is no kind of attribute", Level::kNote},
        Broken{"EventCount", "NUM_EVENTS eventc=5\n" + kEnter + "EXIT lid=0 time=1\n",
               "the trace ends after 2 of its 5 events", Level::kError},
        Broken{"Continuation",
               "STRING strid=9 cntc=2 str=\"a\"\nSTRING_CNT str=\"b\"\n" + kEnter +
                   "EXIT lid=0 time=1\n",
               "NUM_EVENTS the definition before this one lacks continuations", Level::kError},
        Broken{"GroupLargerThanTheRun", "LOCAL_RUN size=2 pid=0\nMPI_GROUP gid=0 mode=1 count=3\n",
               "MPI_GROUP has more members than it may have", Level::kError},
        Broken{"NoNumberOfEvents", "LAST_DEF\n", "the file does not tell its number of events",
               Level::kError}),
    [](const auto& test) { return std::string(test.param.name); });

// What a definition introduces may not be there yet, by the type of its first field; what tells
// more of an object may come again.
// A series that waits, with two members, ended by a message; `with` replaces a part of it.
Verification polls(const std::string& part = "", const std::string& with = "") {
  std::string text =
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Test\n"
      "MPI_POLLED lid=0 time=3 begin=1 count=9 called=0.5 rest=1.5 judged=1 end=1 members=2\n"
      "MPI_POLL lid=0 time=3 kind=1 region=MPI_Test count=5 first_enter=1 last_enter=2.5 reqid=0\n"
      "MPI_POLL lid=0 time=3 kind=1 region=MPI_Test count=4 first_enter=2 last_enter=2.75 reqid=1\n"
      "MPI_SEND_COMPLETE lid=0 time=4 reqid=0\n"
      "EXIT lid=0 time=4\n"
      "EXIT lid=0 time=4\n";
  if (!part.empty()) text.replace(text.find(part), part.size(), with);
  return verified(text);
}
TEST(Verify, SeriesOfPolls) {
  EXPECT_TRUE(polls().findings.empty()) << all(polls());
  const auto what = [](const std::string& part, const std::string& with) {
    return all(polls(part, with));
  };
  const auto has = [&](const std::string& part, const std::string& with, const char* wanted) {
    EXPECT_NE(what(part, with).find(wanted), std::string::npos) << what(part, with);
  };
  has("begin=1", "begin=3.5", "MPI_POLLED.begin is after the last poll");
  has("count=9", "count=10", "MPI_POLL.count does not add up");
  has("first_enter=1", "first_enter=0.5", "MPI_POLL.first_enter is not within");
  has("last_enter=2.75", "last_enter=3.5", "MPI_POLL.last_enter is not within");
  has("last_enter=2.75", "last_enter=1.5", "MPI_POLL.last_enter is not within");
  has("rest=1.5", "rest=1.75", "MPI_POLLED.rest and the other times are longer");
  has("judged=1", "judged=2", "MPI_POLLED.judged is not settled");
  has("end=1", "end=1 flags=1", "MPI_POLLED.flags says that it goes on");
  has("members=2", "members=3", "stands where a member of a series is missing");
  has("members=2", "members=1", "belongs to no MPI_POLLED");
  has("MPI_SEND_COMPLETE lid=0 time=4 reqid=0\n", "", "which is not there");
  // An instance of its own ends with nothing; one that works says when it polled, not how long.
  EXPECT_EQ(what("end=1", "end=3 flags=4"), "");
  EXPECT_EQ(what("time=3 begin=1 count=9 called=0.5 rest=1.5 judged=1 end=1",
                 "time=1.5 begin=1 count=9 called=0.5 rest=1.5 judged=3 end=3 flags=4"),
            "");
}
// In a local trace the members stand before their series.
TEST(Verify, AWholeSeriesOfPolls) {
  const auto found = [](const std::string& more) {
    return all(verified(
        "LOCAL_RUN run_hi=1 run_lo=1 size=1 pid=0 tid=0\n"
        "ENTER lid=0 time=0 region=main\n"
        "MPI_POLL lid=0 time=1 kind=2 region=MPI_Iprobe count=4 first_enter=2 last_enter=2.75\n"
        "MPI_POLL_CALL lid=0 time=1 exit=3 region=MPI_Test judged=2 end=3 kind=1 last_enter=2.5 "
        "reqid=0 " +
        more + "\nEXIT lid=0 time=4\n"));
  };
  EXPECT_EQ(found("count=9 polls=5 members=2 called=1 rest=1"), "");
  EXPECT_NE(found("count=9 polls=5 members=1").find("members are not those"), std::string::npos);
  EXPECT_NE(found("count=9 polls=6 members=2").find("count is not the sum"), std::string::npos);
}

TEST(Verify, EachObjectIsDefinedOnce) {
  const std::pair<const char*, const char*> definitions[] = {
      {"STRING strid=0 cntc=0 str=\"s\"", "STRING.strid"},
      {"MACHINE mid=0 nodec=1 mnid=0", "MACHINE.mid"},
      {"NODE nid=0 mid=0 cpuc=1 nnid=0 cr=0", "NODE.nid"},
      {"PROCESS pid=0 pnid=0", ""},
      {"LOCATION lid=0 mid=0 nid=0 pid=0 tid=0", "LOCATION.lid"},
      {"FILE fid=0 fnid=0", "FILE.fid"},
      {"REGION rid=0 rnid=0 fid=0 begln=1 endln=2 rdid=0 rtype=1", "REGION.rid"},
      {"CALL_SITE csid=0 fid=0 lno=1 erid=0 lrid=0", "CALL_SITE.csid"},
      {"MPI_GROUP gid=0 mode=0 count=1 ranks=[0]", "MPI_GROUP.gid"},
      {"MPI_COMM_REF cid=0 gid=0", "MPI_COMM_REF.cid"},
      {"COMM_IDENTITY cid=0 hi=1 lo=1 flags=0", ""},
      {"MPI_WIN wid=0 cid=0", "MPI_WIN.wid"},
      {"WIN_IDENTITY wid=0 hi=1 lo=1 flags=0 flavour=1 model=1", ""},
      {"CART_TOPOLOGY topid=0 cid=0 ndims=1 dimv=[1] periodv=[0] topnid=0 dimnid=[0]",
       "CART_TOPOLOGY.topid"},
      {"CALL_PATH cpid=0 rid=0 ppid=absent order=0", "CALL_PATH.cpid"},
  };
  const auto trace = [&](const char* twice) {
    std::string text = "EPILOG 2.0\n";
    for (const auto& [line, field] : definitions) {
      text += std::string(line) + "\n";
      if (line == twice) text += std::string(line) + "\n";
    }
    return text + "NUM_EVENTS eventc=2\nLAST_DEF\nENTER lid=0 time=0 rid=0\nEXIT lid=0 time=1\n";
  };
  const Verification once = verified(trace(nullptr));
  EXPECT_TRUE(once.findings.empty()) << all(once);
  for (const auto& [line, field] : definitions) {
    SCOPED_TRACE(line);
    const Verification result = verified(trace(line));
    if (std::string(field).empty()) {
      EXPECT_TRUE(result.findings.empty()) << all(result);
    } else {
      EXPECT_EQ(only(result).message().rfind(std::string(field) + " is defined twice", 0), 0u)
          << all(result);
    }
  }
  // A call path is not there yet where it names itself.
  const std::string self = trace(nullptr).insert(trace(nullptr).find("NUM_EVENTS"),
                                                 "CALL_PATH cpid=5 rid=0 ppid=5 order=1\n");
  EXPECT_EQ(only(verified(self)).what, "no call path with this identifier is defined before");
}

TEST(Verify, FindingsAreCountedOnceForEachKind) {
  const Verification result =
      verified(kEnter + "EXIT lid=0 time=1\n" + "EXIT lid=0 time=1\n" + "EXIT lid=0 time=1\n");
  const Finding finding = only(result);
  EXPECT_EQ(finding.count, 2u);
  EXPECT_NE(finding.message().find("(2 times, first at offset "), std::string::npos)
      << finding.message();
}

TEST(Verify, WhatIsUndefinedIsSaidOfEachField) {
  // Definitions after their use, in a complete text: nothing is added.
  const Verification result =
      verified(std::string("EPILOG 2.0\nMPI_WIN wid=0 cid=0\nNUM_EVENTS eventc=1\nLAST_DEF\n"
                           "MPI_PUT_1TS lid=3 time=0 dlid=4 wid=1 rmaid=0 sent=0\n"));
  std::vector<std::string> fields;
  for (const Finding& finding : result.findings) fields.push_back(finding.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"cid", "dlid", "lid", "wid"})) << all(result);
}

TEST(Verify, DefinitionsEndWithLastDef) {
  const Verification result = verified(
      std::string("EPILOG 2.0\nNUM_EVENTS eventc=0\nLAST_DEF\nSTRING strid=0 cntc=0 str=\"x\"\n"));
  EXPECT_EQ(only(result).message().substr(0, 51),
            "definitions stand behind the last one (at offset 18");
}

TEST(Verify, EventsWithoutLastDef) {
  // Taken byte by byte: a text without LAST_DEF would get one.
  auto trace = *text_to_trace(
      "NUM_EVENTS eventc=1\nLAST_DEF\nMPI_REQUEST_TESTED lid=0 time=0 "
      "reqid=0\n");
  trace.erase(trace.begin() + kHeaderSize + 6, trace.begin() + kHeaderSize + 8);
  const Verification result = verified(trace);
  std::string found = all(result);
  EXPECT_NE(found.find("MPI_REQUEST_TESTED stands before LAST_DEF"), std::string::npos) << found;
  EXPECT_NE(found.find("the file has no LAST_DEF"), std::string::npos) << found;
}

TEST(Verify, LocalFilesOfTheClassicToolsAreRefusedByName) {
  auto trace = *text_to_trace("EPILOG 1.9\nLAST_DEF\nEXIT lid=0 time=0\n");
  trace.erase(trace.begin() + kHeaderSize, trace.begin() + kHeaderSize + 2);
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "epik.elg");
  ASSERT_TRUE(reader.ok());
  const auto result = verify_trace(*reader);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ExitCode::kBadInput);
  EXPECT_EQ(result.error().file, "epik.elg");
  EXPECT_NE(result.error().reason.find("classic tools"), std::string::npos);
  EXPECT_FALSE(result.error().remedy.empty());
}

}  // namespace
}  // namespace kojak
