// The text form of traces: what is printed can be read, shorthands become what they stand for, and
// mistakes are named with file and line.
#include <gtest/gtest.h>

#include <sstream>

#include "epilog/format/definitions.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/text/print.h"
#include "epilog/format/text/text_reader.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

std::string printed(std::string_view source) {
  const auto trace = text_to_trace(source, "case");
  if (!trace) return trace.error().message();
  const auto text = trace_to_text(*trace);
  return text ? *text : text.error().message();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Whether the printed form has a line.
bool has(const std::string& text, const std::string& line) {
  for (const std::string& one : lines_of(text)) {
    if (one == line) return true;
  }
  return false;
}

Definitions definitions_of(const std::vector<std::byte>& trace) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "memory");
  EXPECT_TRUE(reader.ok());
  Definitions definitions;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (!is_definition(record.type)) continue;
    EXPECT_TRUE(definitions.add(record, reader->dialect()).ok());
  }
  definitions.finish();
  return definitions;
}

// Values that use all bits, in every field.
struct Fill {
  const std::vector<std::uint32_t>& numbers;
  const std::vector<std::uint8_t>& bytes;
  const std::vector<std::uint64_t>& values;
  std::uint32_t next = 0;
  template <class T>
  void field(const FieldInfo& info, T& value) {
    if constexpr (kIsTime<T>) {
      value.value = 0.1;
    } else if (std::string_view(info.name) == "ndims") {
      value = static_cast<T>(2);
    } else if (std::string_view(info.name) == "cntc") {
      value = T{};
    } else {
      value = next % 3 == 0 ? static_cast<T>(~std::underlying_type_t<T>{}) : static_cast<T>(next);
      ++next;
    }
  }
  void rest(const FieldInfo&, U4Array& view) { view = U4Array::of(numbers); }
  void rest(const FieldInfo&, ByteArray& view) { view = ByteArray::of(bytes); }
  void rest(const FieldInfo&, MetricValues& view) { view = MetricValues::of(values); }
  template <class U>
  void array(const FieldInfo& info, PackedArray<U>& view, std::uint32_t) {
    rest(info, view);
  }
  void text(const FieldInfo&, Text& text) {
    static const std::string kNasty = std::string("a \"b\"\\\n\t\r\x01 # = \xc3\xa4?") + '\0';
    text = kNasty;
  }
  void metrics(const FieldInfo&, MetricValues& view) { view = MetricValues::of(values); }
};

// A native trace with every record in the list, made with plain values, prints to a text that reads
// back to the same bytes.
class EveryRecordAsText : public testing::TestWithParam<bool> {};

TEST_P(EveryRecordAsText, ReadsBackToTheSameBytes) {
  Dialect dialect;
  dialect.big_endian = GetParam();
  dialect.metrics = 1;
  std::vector<std::byte> trace(kHeaderSize);
  encode_header(dialect, trace.data());
  const std::vector<std::uint32_t> numbers{7, kAbsent};
  const std::vector<std::uint8_t> bytes{1, 0x80};
  const std::vector<std::uint64_t> values{0xFFFFFFFFFFFFFFFFu};
  Fill fill{numbers, bytes, values};
  const auto add = [&]<class R>() {
    R record;
    visit_fields(record, dialect, fill);
    std::byte buffer[kMaxRecord];
    const std::size_t size = encode(record, dialect, buffer);
    ASSERT_NE(size, 0u) << R::kName;
    trace.insert(trace.end(), buffer, buffer + size);
  };
  add.template operator()<Metric>();
  for (int type = 0; type < 256; ++type) {
    if (type != 10) dispatch_record(static_cast<std::uint8_t>(type), add);
  }
  const std::byte unknown[] = {std::byte{2}, std::byte{250}, std::byte{0}, std::byte{255}};
  trace.insert(trace.end(), unknown, unknown + 4);

  const auto text = trace_to_text(trace);
  ASSERT_TRUE(text.ok());
  const auto again = text_to_trace(*text);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_TRUE(*again == trace);
  EXPECT_EQ(*trace_to_text(*again), *text);
  EXPECT_TRUE(has(*text, "UNKNOWN type=250 body=[0,255]"));
}

INSTANTIATE_TEST_SUITE_P(Order, EveryRecordAsText, testing::Bool());

TEST(TextReference, ReadsBackToTheSameBytes) {
  for (const char* name : {"fence", "gats"}) {
    const auto trace = test::read_bytes(std::string(KOJAK_REFERENCE_DIR) + "/" + name + ".elg");
    const auto text = trace_to_text(trace);
    ASSERT_TRUE(text.ok());
    const auto again = text_to_trace(*text);
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_TRUE(*again == trace) << name;
  }
}

TEST(TextPrint, ValuesLookAsDocumented) {
  const std::string text = printed(
      "EPILOG 1.9 little\n"
      "STRING strid=0 cntc=0 str=\"a\\\"b\\n\\001\"\n"
      "MPI_COMM cid=0 uag=1 grpc=2 grpv=1110000001000000\n"
      "MPI_COLLEXIT lid=0 time=0.1 rlid=absent cid=0 sent=1 recvd=2\n"
      "LAST_DEF\n");
  EXPECT_EQ(text,
            "EPILOG 1.9 little\n"
            "STRING strid=0 cntc=0 str=\"a\\\"b\\n\\001\"\n"
            "MPI_COMM cid=0 uag=1 grpc=2 grpv=1110000001000000\n"
            "MPI_COLLEXIT lid=0 time=0.10000000000000001 rlid=absent cid=0 sent=1 recvd=2\n"
            "LAST_DEF\n");
}

TEST(TextShorthand, RegionsAreDefinedByName) {
  const auto trace = text_to_trace(
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Barrier  # with its type from the function table\n"
      "MPI_COLLEXIT lid=0 time=2\n"
      "EXIT lid=0 time=3\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message();
  const Definitions definitions = definitions_of(*trace);
  ASSERT_EQ(definitions.regions.size(), 2u);
  const RegionDef* main = definitions.regions.find(RegionId{0});
  const RegionDef* barrier = definitions.regions.find(RegionId{1});
  EXPECT_EQ(main->name, "main");
  EXPECT_EQ(main->type, 1);
  EXPECT_EQ(barrier->name, "MPI_Barrier");
  EXPECT_EQ(barrier->file, "MPI");
  EXPECT_EQ(barrier->type, 4);
  EXPECT_EQ(definitions.event_count, 4u);
  EXPECT_TRUE(definitions.last_def);
  EXPECT_EQ(definitions.locations.size(), 1u);
  EXPECT_EQ(definitions.comms.find(CommId{0})->ranks.vector(), (std::vector<std::uint32_t>{0}));
}

TEST(TextShorthand, AGivenRegionIsUsedByItsName) {
  const std::string text = printed(
      "REGION rid=0 rnid=\"main\" fid=\"main.c\" begln=10\n"
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=0 time=0 region=other\n");
  EXPECT_TRUE(has(text, "ENTER lid=0 time=0 rid=0")) << text;
  EXPECT_TRUE(has(text, "ENTER lid=0 time=0 rid=1")) << text;
  EXPECT_TRUE(has(text, "STRING strid=0 cntc=0 str=\"main\"")) << text;
  EXPECT_TRUE(has(text, "FILE fid=0 fnid=1")) << text;
  EXPECT_TRUE(has(text, "REGION rid=0 rnid=0 fid=0 begln=10 endln=absent rdid=absent rtype=0"))
      << text;
}

TEST(TextShorthand, GroupsBecomeCommunicatorObjectsInOrder) {
  const auto trace = text_to_trace(
      "MPI_COMM_REF cid=1 gid=[1,0]\n"
      "MPI_WINEXIT lid=1 time=0 group=[2,0] synex=0\n"
      "MPI_WINEXIT lid=1 time=1 group=[0,2] synex=0\n"
      "MPI_WINEXIT lid=2 time=2 group=[2,0] synex=1\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message();
  const Definitions definitions = definitions_of(*trace);
  const auto ranks = [&](std::uint32_t cid) {
    return definitions.comms.find(static_cast<CommId>(cid))->ranks.vector();
  };
  using List = std::vector<std::uint32_t>;
  ASSERT_EQ(definitions.comms.size(), 4u);  // of all, the given one, two groups
  EXPECT_EQ(ranks(0), (List{0, 1, 2}));
  EXPECT_EQ(ranks(1), (List{1, 0}));
  EXPECT_EQ(ranks(2), (List{2, 0}));
  EXPECT_EQ(ranks(3), (List{0, 2}));
  EXPECT_TRUE(definitions.comms.find(CommId{2})->stands_for_group);
  EXPECT_FALSE(definitions.comms.find(CommId{1})->stands_for_group);
  EXPECT_EQ(definitions.windows.find(WindowId{0})->comm, CommId{0});
}

TEST(TextShorthand, NodesOfLocations) {
  const auto trace = text_to_trace(
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=2 time=0 region=main node=1\n");
  ASSERT_TRUE(trace.ok());
  const Definitions definitions = definitions_of(*trace);
  ASSERT_EQ(definitions.locations.size(), 3u) << "ranks have no gaps";
  EXPECT_EQ(definitions.locations.find(LocationId{0})->node, NodeId{0});
  EXPECT_EQ(definitions.locations.find(LocationId{1})->node, NodeId{0});
  EXPECT_EQ(definitions.locations.find(LocationId{2})->node, NodeId{1});
  EXPECT_EQ(definitions.nodes.size(), 2u);
  EXPECT_EQ(definitions.nodes.find(NodeId{1})->name, "node1");
}

TEST(TextShorthand, CallSitesHaveTheCallerThatIsOpen) {
  const auto trace = text_to_trace(
      "ENTER lid=0 time=0 region=solve\n"
      "ENTER_CS lid=0 time=1 region=MPI_Put site=\"solve.c:77\"\n"
      "EXIT lid=0 time=2\n"
      "ENTER_CS lid=0 time=3 region=MPI_Put site=\"solve.c:77\"\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message();
  const Definitions definitions = definitions_of(*trace);
  ASSERT_EQ(definitions.call_sites.size(), 1u);
  const CallSiteDef* site = definitions.call_sites.find(CallSiteId{0});
  EXPECT_EQ(definitions.regions.find(site->entered)->name, "MPI_Put");
  EXPECT_EQ(definitions.regions.find(site->left)->name, "solve");
  EXPECT_EQ(*definitions.files.find(site->file), "solve.c");
  EXPECT_EQ(raw(site->line), 77u);
}

// A case tells of a series what it is about, and nothing else.
TEST(TextShorthand, WhatPollsHaveNotIsLeftOut) {
  const std::string text = printed(
      "ENTER lid=0 time=1 region=MPI_Test\n"
      "MPI_POLLED lid=0 time=3 begin=1 count=9 judged=1 end=1 members=1\n"
      "MPI_POLL lid=0 time=3 kind=1 rid=0 count=9 first_enter=1 last_enter=2 reqid=4\n"
      "EXIT lid=0 time=4\n");
  EXPECT_TRUE(has(text,
                  "MPI_POLLED lid=0 time=3 count=9 begin=1 called=0 paused=0 asleep=0 rest=0 "
                  "least=0 ran=18446744073709551615 switches=0 judged=1 end=1 flags=0 members=1"))
      << text;
  EXPECT_TRUE(has(text,
                  "MPI_POLL lid=0 time=3 kind=1 rid=0 csid=absent count=9 first_enter=1 "
                  "last_enter=2 reqid=4 requests=0 plid=absent cid=absent tag=absent wid=absent "
                  "tlid=absent disp=18446744073709551615 bytes=0 value=0 other=0"))
      << text;
  EXPECT_FALSE(text_to_trace("MPI_POLLED lid=0 time=3 begin=1 judged=1 end=1 members=1\n").ok())
      << "of how many polls?";
}

TEST(TextShorthand, LongStringsAndGroupsAreSplit) {
  const std::string name(600, 'x');
  std::string ranks = "0";
  for (int i = 1; i < 200; ++i) ranks += "," + std::to_string(i);
  const auto trace = text_to_trace("ENTER lid=199 time=0 region=" + name +
                                   "\nMPI_WINEXIT lid=0 time=1 synex=1 group=[" + ranks + "]\n");
  ASSERT_TRUE(trace.ok());
  const Definitions definitions = definitions_of(*trace);
  EXPECT_EQ(definitions.regions.find(RegionId{0})->name, name);
  EXPECT_EQ(definitions.comms.find(CommId{1})->ranks.size(), 200u);
  EXPECT_EQ(definitions.comms.find(CommId{1})->ranks[199], 199u);
  EXPECT_EQ(*text_to_trace(*trace_to_text(*trace)), *trace);
}

TEST(TextShorthand, ClassicTracesGetBitVectors) {
  const std::string text = printed(
      "EPILOG 1.9 big\n"
      "MPI_WINEXIT lid=8 time=0 group=[8,0] synex=1\n");
  EXPECT_TRUE(has(text, "MPI_COMM cid=0 uag=0 grpc=2 grpv=1111111110000000")) << text;
  EXPECT_TRUE(has(text, "MPI_COMM cid=1 uag=1 grpc=2 grpv=1000000010000000")) << text;
  EXPECT_EQ(text.find("MPI_GROUP"), std::string::npos);
}

TEST(TextShorthand, FieldsThatAClassicVersionLacksAreNeitherAskedForNorWritten) {
  // Before 1.3 MPI_COMM has no uag: cid, grpc and one byte of bits are 9 bytes.
  const auto trace = text_to_trace("EPILOG 1.2 little\nMPI_COMM cid=4 grpv=101\nLAST_DEF\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message();
  EXPECT_EQ(trace->size(), 10u + (2u + 9u) + 2u);
  EXPECT_EQ(*trace_to_text(*trace),
            "EPILOG 1.2 little\nMPI_COMM cid=4 grpc=1 grpv=10100000\nLAST_DEF\n");
  EXPECT_EQ(printed("EPILOG 1.3 little\nMPI_COMM cid=4 grpv=101\nLAST_DEF\n"),
            "EPILOG 1.3 little\nMPI_COMM cid=4 uag=0 grpc=1 grpv=10100000\nLAST_DEF\n");
  const auto unknown = text_to_trace("EPILOG 1.2\nMPI_COMM cid=4 uag=0 grpv=101\n");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message(), "text:2: MPI_COMM has no key uag");
}

TEST(TextShorthand, ARecordThatIsTooLongIsRefusedHoweverItsFieldsAreOrdered) {
  // topid, cid, ndims, dimv and periodv: 4 + 4 + 1 + 49 * (4 + 1) = 254 bytes; topnid makes 258.
  std::string dims = "[1", flags = "[0";
  for (int i = 1; i < 49; ++i) {
    dims += ",1";
    flags += ",0";
  }
  const std::string text = "CART_TOPOLOGY topid=0 dimv=" + dims + "] periodv=" + flags + "]";
  EXPECT_TRUE(text_to_trace("EPILOG 1.8\n" + text + "\n").ok());
  const auto trace = text_to_trace("EPILOG 1.9\n" + text + " dimnid=" + dims + "]\n");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().message(), "text:2: the record is longer than 255 bytes");
}

TEST(TextShorthand, LocalTracesStartWithTheirRun) {
  const auto trace = text_to_trace(
      "LOCAL_RUN size=4 pid=2\n"
      "ENTER lid=2 time=0 region=MPI_Put\n"
      "MPI_PUT_1TS lid=2 time=0 dlid=3 rmaid=0 sent=8\n"
      "MPI_PUT_1TE_REMOTE lid=2 time=1 dlid=3 rmaid=0 recvd=8\n"
      "EXIT lid=2 time=1\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message();
  const std::string text = *trace_to_text(*trace);
  EXPECT_EQ(lines_of(text)[1], "LOCAL_RUN run_hi=0x1 run_lo=0x1 size=4 pid=2 tid=0");
  const Definitions definitions = definitions_of(*trace);
  EXPECT_EQ(definitions.locations.size(), 1u) << "its own only";
  EXPECT_FALSE(definitions.last_def);
  EXPECT_FALSE(definitions.event_count.has_value());
  EXPECT_EQ(definitions.comms.find(CommId{0})->ranks.size(), 4u);
  // The identities agree between the local texts of one case, and differ between objects.
  const auto other =
      definitions_of(*text_to_trace("LOCAL_RUN size=4 pid=0\nMPI_WINCOLLEXIT lid=0 time=0 wid=0\n"
                                    "MPI_WINCOLLEXIT lid=0 time=1 wid=1\n"));
  const auto identity = [](const WindowDef* window) {
    return std::pair(window->identity_hi, window->identity_lo);
  };
  EXPECT_EQ(identity(other.windows.find(WindowId{0})),
            identity(definitions.windows.find(WindowId{0})));
  EXPECT_NE(identity(other.windows.find(WindowId{0})), identity(other.windows.find(WindowId{1})));
}

TEST(TextShorthand, MetricsAreFilledWithZeros) {
  const std::string text = printed(
      "METRIC metid=0 metnid=\"FLOPS\"\n"
      "ENTER lid=0 time=0 region=main\n"
      "EXIT lid=0 time=0 metv=[5]\n");
  EXPECT_TRUE(has(text, "ENTER lid=0 time=0 rid=0 metv=[0]")) << text;
  EXPECT_TRUE(has(text, "EXIT lid=0 time=0 metv=[5]")) << text;
}

TEST(TextShorthand, NothingIsAddedToACompleteText) {
  EXPECT_EQ(printed("EPILOG 2.0 little\nLAST_DEF\nENTER lid=7 time=0 rid=9\n"),
            "EPILOG 2.0 little\nLAST_DEF\nENTER lid=7 time=0 rid=9\n");
}

struct Mistake {
  const char* text;
  const char* message;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedWithFileAndLine) {
  const auto trace = text_to_trace(GetParam().text, "bad.txt");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Text, Mistakes,
    testing::Values(
        Mistake{"\n# fine\nENTRE lid=0\n", "bad.txt:3: no record is called ENTRE"},
        Mistake{"ENTER lid=0 time=0\n", "bad.txt:1: key rid is missing"},
        Mistake{"EXIT time=0\n", "bad.txt:1: key lid is missing"},
        Mistake{"EXIT lid=0 time=0 tmie=1\n", "bad.txt:1: EXIT has no key tmie"},
        Mistake{"EXIT lid=0 time=0 lid=1\n", "bad.txt:1: key lid stands twice"},
        Mistake{"EXIT lid=x time=0\n", "bad.txt:1: `x` is no value for key lid"},
        Mistake{"EXIT lid=-1 time=0\n", "bad.txt:1: `-1` is no value for key lid"},
        Mistake{"EXIT lid=4294967296 time=0\n", "bad.txt:1: `4294967296` is no value for key lid"},
        Mistake{"EXIT lid=4000000000 time=0\n", "bad.txt:1: lid is too large"},
        Mistake{"EXIT lid=0 time=soon\n", "bad.txt:1: `soon` is no number of seconds"},
        Mistake{"EXIT lid=0 time=1 metv=[1]\n", "bad.txt:1: metv has 1 elements, not 0"},
        Mistake{"EXIT lid=0 time\n", "bad.txt:1: `time` is no key=value"},
        Mistake{"EXIT lid= time=0\n", "bad.txt:1: key lid has no value"},
        Mistake{"STRING strid=0 str=\"abc\n",
                "bad.txt:1: the string of key str has no closing quote"},
        Mistake{"STRING strid=0 str=\"a\\qc\"\n", "bad.txt:1: \\q is no escape of C"},
        Mistake{"STRING strid=0 str=\"a\"b\n",
                "bad.txt:1: a blank must follow the value of key str"},
        Mistake{"MPI_GROUP gid=0 ranks=[1,2\n", "bad.txt:1: the list of key ranks has no ]"},
        Mistake{"MPI_GROUP gid=0 ranks=[1,x]\n", "bad.txt:1: `x` is no element of ranks"},
        Mistake{"MPI_COMM cid=0 grpv=0120\n", "bad.txt:1: grpv is a row of 0 and 1"},
        Mistake{"CART_COORDS topid=0 lid=0 ndims=3 coordv=[1]\n",
                "bad.txt:1: coordv has 1 elements, not 3"},
        Mistake{"EPILOG 1.9\nWIN_STATE lid=0 time=0 fences=1 open=0\n",
                "bad.txt:2: WIN_STATE has no place in a classic trace"},
        Mistake{"EPILOG two\n", "bad.txt:1: the header is `EPILOG <major>.<minor> [little|big]`"},
        Mistake{"ENTER_CS lid=0 time=0 region=f site=here\n",
                "bad.txt:1: `here` is no call site: file:line"},
        Mistake{"LOCATION lid=0 mid=0 nid=0 pid=876609537 tid=0\nENTER lid=0 time=0 region=f\n",
                "bad.txt:2: the text names process 876609537: more than can be made up"},
        Mistake{"UNKNOWN type=300 body=[]\n",
                "bad.txt:1: an unknown record is `UNKNOWN type=N body=[...]`, at most 255 bytes"}));

TEST(TextFile, IsWritten) {
  test::TempDir dir;
  const std::string path = dir.file("a.elg");
  const Status status = text_to_trace_file("ENTER lid=0 time=0 region=f\n", path);
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_TRUE(test::read_bytes(path) == *text_to_trace("ENTER lid=0 time=0 region=f\n"));
  const Status bad = text_to_trace_file("ENTER\n", dir.file("b.elg"), "b.txt");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message(), "b.txt:1: key lid is missing");
  EXPECT_FALSE(std::filesystem::exists(dir.file("b.elg")));
}

}  // namespace
}  // namespace kojak
