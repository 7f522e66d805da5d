// Definitions put together from records: continuations, groups, identifiers, and counts that lie.
#include <gtest/gtest.h>

#include <numeric>

#include "epilog/format/definitions.h"
#include "epilog/format/record/continuation.h"

namespace kojak {
namespace {

class DefinitionsTest : public testing::Test {
 protected:
  // Encodes and adds a record; returns the error's text, empty if there was none.
  template <class R>
  std::string add(const R& record) {
    std::byte buffer[kMaxRecord];
    EXPECT_NE(encode(record, dialect_, buffer), 0u);
    const Status status = definitions_.add(
        {static_cast<std::uint8_t>(R::kType), static_cast<std::uint8_t>(buffer[0]), buffer + 2, 0},
        dialect_);
    return status ? "" : status.error().reason;
  }
  void add_all_locations(std::uint32_t count) {
    for (std::uint32_t lid = 0; lid < count; ++lid) {
      add(Location{static_cast<LocationId>(lid), MachineId{0}, NodeId{0},
                   static_cast<ProcessId>(lid), ThreadId{0}});
    }
  }
  Dialect dialect_;
  Definitions definitions_;
};

// Lengths around the sizes of the parts: 250 bytes with the NUL, then 255.
class StringLengths : public DefinitionsTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(StringLengths, AreJoinedAgain) {
  std::string text;
  for (std::size_t i = 0; i < GetParam(); ++i) text += static_cast<char>('a' + i % 26);
  std::size_t records = 0;
  emit_string(StringId{3}, text, [&](const auto& record) {
    EXPECT_EQ(add(record), "");
    ++records;
  });
  definitions_.finish();
  EXPECT_EQ(definitions_.string(StringId{3}), text);
  EXPECT_EQ(definitions_.unfinished(), 0u);
  const std::size_t bytes = GetParam() + 1;  // with the NUL
  EXPECT_EQ(records, bytes <= 250 ? 1u : 1 + (bytes - 250 + 254) / 255);
}

INSTANTIATE_TEST_SUITE_P(AroundTheParts, StringLengths,
                         testing::Values(0, 1, 248, 249, 250, 251, 503, 504, 505, 506, 10000));

class GroupSizes : public DefinitionsTest, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(GroupSizes, AreJoinedAgainInOrder) {
  std::vector<std::uint32_t> ranks(GetParam());
  std::iota(ranks.rbegin(), ranks.rend(), 5u);  // descending
  emit_group(GroupId{0}, 0, ranks.data(), ranks.size(),
             [&](const auto& record) { EXPECT_EQ(add(record), ""); });
  EXPECT_EQ(add(MpiCommRef{CommId{2}, GroupId{0}}), "");
  EXPECT_EQ(definitions_.comms.find(CommId{2})->ranks.vector(), ranks);
  EXPECT_EQ(definitions_.comms.find(CommId{2})->group, GroupId{0});
  EXPECT_EQ(definitions_.unfinished(), 0u);
}

INSTANTIATE_TEST_SUITE_P(AroundTheParts, GroupSizes,
                         testing::Values(0, 1, 60, 61, 62, 123, 124, 125, 126, 5000));

class BitVectors : public DefinitionsTest, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(BitVectors, AreJoinedAgain) {
  dialect_.major = 1;
  dialect_.minor = 9;
  // Every third rank is a member.
  std::vector<std::uint8_t> bits((GetParam() + 7) / 8);
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < GetParam(); rank += 3) {
    bits[rank / 8] = static_cast<std::uint8_t>(bits[rank / 8] | 1u << rank % 8);
    ranks.push_back(rank);
  }
  emit_comm_bits(CommId{0}, 0, bits.data(), bits.size(),
                 [&](const auto& record) { EXPECT_EQ(add(record), ""); });
  EXPECT_EQ(definitions_.comms.find(CommId{0})->ranks.vector(), ranks);
  EXPECT_TRUE(definitions_.comms.find(CommId{0})->bits);
}

INSTANTIATE_TEST_SUITE_P(AroundTheParts, BitVectors,
                         testing::Values(1, 8, 9, 246 * 8, 246 * 8 + 1, 501 * 8, 501 * 8 + 1));

TEST_F(DefinitionsTest, AGroupOfAllProcessesGivesItsNumberOnly) {
  add_all_locations(3);
  EXPECT_EQ(add(MpiGroup{GroupId{0}, Flags{1}, Count{3}, {}}), "");
  EXPECT_EQ(definitions_.groups.find(GroupId{0})->ranks.vector(),
            (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_F(DefinitionsTest, AGroupIsNotLargerThanTheRun) {
  add_all_locations(3);
  EXPECT_NE(add(MpiGroup{GroupId{0}, Flags{1}, Count{4}, {}}), "");
  EXPECT_NE(add(MpiGroup{GroupId{1}, Flags{1}, Count{0xFFFFFFFE}, {}}), "");
  EXPECT_TRUE(definitions_.groups.find(GroupId{1})->ranks.empty());
}

TEST_F(DefinitionsTest, GroupsOfAHostileRunAreBounded) {
  EXPECT_EQ(add(LocalRun{Hash64{1}, Hash64{1}, Count{0xFFFFFFFF}, ProcessId{0}, ThreadId{0}}), "");
  EXPECT_NE(add(MpiGroup{GroupId{0}, Flags{1}, Count{0xFFFFFFFF}, {}}), "");
  unsigned accepted = 0;
  for (std::uint32_t i = 1; i < 100; ++i) {
    accepted += add(MpiGroup{static_cast<GroupId>(i), Flags{1}, Count{1u << 20}, {}}).empty();
  }
  EXPECT_LE(accepted, 16u) << "2^24 ranks in all of them together";
}

TEST_F(DefinitionsTest, ManyCommunicatorsShareOneGroup) {
  add_all_locations(1000);
  EXPECT_EQ(add(MpiGroup{GroupId{0}, Flags{1}, Count{1000}, {}}), "");
  for (std::uint32_t cid = 0; cid < 100; ++cid) {
    EXPECT_EQ(add(MpiCommRef{static_cast<CommId>(cid), GroupId{0}}), "");
  }
  EXPECT_EQ(definitions_.comms.find(CommId{0})->ranks.data(),
            definitions_.comms.find(CommId{99})->ranks.data());
}

TEST_F(DefinitionsTest, SparseAndDescendingIdentifiersAreFound) {
  const std::vector<std::uint32_t> ids{4000000000u, 100000, 5, 0, 1, 70, 300, 299, kAbsent - 1};
  for (const std::uint32_t id : ids) {
    EXPECT_EQ(add(MpiWin{static_cast<WindowId>(id), static_cast<CommId>(id)}), "");
  }
  for (std::uint32_t id = 2; id < 400; ++id) {  // those between, past the ones that were far away
    if (definitions_.windows.find(static_cast<WindowId>(id)) == nullptr) {
      EXPECT_EQ(add(MpiWin{static_cast<WindowId>(id), static_cast<CommId>(id)}), "");
    }
  }
  EXPECT_EQ(definitions_.windows.size(), 403u);
  std::vector<std::uint32_t> seen;
  definitions_.windows.for_each([&](WindowId id, const WindowDef& window) {
    EXPECT_EQ(raw(id), raw(window.comm));
    seen.push_back(raw(id));
  });
  EXPECT_EQ(seen.size(), 403u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  for (const std::uint32_t id : ids) {
    ASSERT_NE(definitions_.windows.find(static_cast<WindowId>(id)), nullptr) << id;
    EXPECT_EQ(raw(definitions_.windows.find(static_cast<WindowId>(id))->comm), id);
  }
}

TEST_F(DefinitionsTest, AContinuationWithoutABeginningIsRefused) {
  EXPECT_EQ(add(StringCnt{"x"}), "continues no STRING");
  EXPECT_EQ(add(MpiGroupCnt{}), "continues no MPI_GROUP");
  EXPECT_EQ(add(MpiCommCnt{}), "continues no MPI_COMM");
}

TEST_F(DefinitionsTest, MissingContinuationsAreCounted) {
  EXPECT_EQ(add(String{StringId{0}, Byte{2}, "abc"}), "");
  EXPECT_EQ(add(StringCnt{"def"}), "");
  EXPECT_EQ(definitions_.unfinished(), 0u);
  EXPECT_EQ(add(String{StringId{1}, Byte{0}, "x"}), "");
  EXPECT_EQ(definitions_.unfinished(), 1u);
  EXPECT_EQ(definitions_.string(StringId{0}), "abcdef") << "what came is kept";
  MpiGroup group{GroupId{0}, Flags{0}, Count{100}, {}};
  EXPECT_EQ(add(group), "");
  definitions_.finish();
  EXPECT_EQ(definitions_.unfinished(), 2u);
}

TEST_F(DefinitionsTest, MoreMembersThanTheCountSaysAreCutOff) {
  const std::vector<std::uint32_t> ranks{4, 5, 6};
  EXPECT_EQ(add(MpiGroup{GroupId{0}, Flags{0}, Count{2}, U4Array::of(ranks)}),
            "more members than its count says");
  EXPECT_EQ(definitions_.groups.find(GroupId{0})->ranks.vector(),
            (std::vector<std::uint32_t>{4, 5}));
  const std::vector<std::uint8_t> bits{1, 1};
  MpiComm comm{CommId{0}, Byte{0}, Count{1}, {}};
  comm.grpv = ByteArray::of(bits);
  EXPECT_EQ(add(comm), "more bytes than its count says");
  EXPECT_EQ(definitions_.comms.find(CommId{0})->ranks.vector(), (std::vector<std::uint32_t>{0}));
}

TEST_F(DefinitionsTest, WhatRefersToNothingIsRefused) {
  EXPECT_NE(add(MpiCommRef{CommId{0}, GroupId{0}}), "");
  EXPECT_NE(add(CommIdentity{CommId{0}, Hash64{1}, Hash64{2}, Flags{0}}), "");
  EXPECT_NE(add(WinIdentity{WindowId{0}, Hash64{1}, Hash64{2}, Flags{0}, Byte{1}, Byte{0}}), "");
  EXPECT_NE(add(CommRemote{CommId{0}, GroupId{0}}), "");
  EXPECT_NE(add(CartCoords{TopologyId{0}, LocationId{0}, Byte{0}, {}}), "");
  EXPECT_TRUE(definitions_.comms.empty());
}

TEST_F(DefinitionsTest, IdentitiesAndRemoteGroups) {
  const std::vector<std::uint32_t> local{0, 2}, remote{1, 3};
  add(MpiGroup{GroupId{0}, Flags{0}, Count{2}, U4Array::of(local)});
  add(MpiGroup{GroupId{1}, Flags{0}, Count{2}, U4Array::of(remote)});
  add(MpiCommRef{CommId{0}, GroupId{0}});
  EXPECT_EQ(add(CommIdentity{CommId{0}, Hash64{5}, Hash64{6}, Flags{2 | 1}}), "");
  EXPECT_EQ(add(CommRemote{CommId{0}, GroupId{1}}), "");
  const CommDef* comm = definitions_.comms.find(CommId{0});
  EXPECT_TRUE(comm->intercommunicator);
  EXPECT_FALSE(comm->identity_known);
  EXPECT_FALSE(comm->stands_for_group);
  EXPECT_EQ(comm->identity_hi, 5u);
  EXPECT_EQ(comm->identity_lo, 6u);
  EXPECT_EQ(comm->remote.vector(), remote);
}

TEST_F(DefinitionsTest, OfSeveralErrorsOfAClockTheLargestHolds) {
  add(String{StringId{0}, Byte{0}, "n"});
  add(Machine{MachineId{0}, Count{1}, StringId{0}});
  add(Node{NodeId{0}, MachineId{0}, Count{2}, StringId{0}, Seconds{1e-9}});
  const auto error = [&] { return definitions_.nodes.find(NodeId{0})->clock_error; };
  EXPECT_FALSE(error().has_value());
  for (const auto& [told, holds] : {std::pair{2e-7, 2e-7}, {4e-3, 4e-3}, {1e-7, 4e-3}}) {
    EXPECT_EQ(add(ClockError{NodeId{0}, Seconds{told}}), "");
    EXPECT_EQ(error()->value, holds);
  }
}

TEST_F(DefinitionsTest, TheNumberOfEventsMayNeed64Bits) {
  add(NumEvents{Count{kAbsent}});
  EXPECT_FALSE(definitions_.event_count.has_value());
  add(EventCount64{Count64{0x100000000}});
  EXPECT_EQ(definitions_.event_count, 0x100000000u);
}

TEST_F(DefinitionsTest, ATooShortRecordNamesItsField) {
  const std::byte body[] = {std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{9}};
  const Status status = definitions_.add({18, 5, body, 77}, dialect_);  // MPI_WIN
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().record, "MPI_WIN");
  EXPECT_EQ(status.error().field, "cid");
  EXPECT_EQ(status.error().offset, 77u);
}

}  // namespace
}  // namespace kojak
