// Frames and code objects of each known version of CPython, laid out by hand as the version's own
// headers say, and what 3.13 and later publish of themselves.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "epilog/runtime/python_layout.h"

namespace kojak::measure {
namespace {

using Memory = std::vector<std::byte>;

template <class T>
void put(Memory& memory, std::size_t at, T value) {
  memcpy(memory.data() + at, &value, sizeof value);
}

// _PyRuntime: numbers of 8 bytes. All that is not set is 0xEE..., which no place can be.
Memory runtime_of(std::uint64_t version, std::initializer_list<std::array<std::uint64_t, 2>> set) {
  Memory memory(kPythonPublished, std::byte{0xEE});
  memcpy(memory.data(), "xdebugpy", 8);
  put(memory, 8, version);
  put(memory, 16, std::uint64_t{0});  // not free-threaded
  for (const auto& [i, value] : set) put(memory, 8 * i, value);
  return memory;
}

constexpr unsigned long k311 = 0x030B02F0, k312 = 0x030C05F0, k313 = 0x030D05F0, k314 = 0x030E0AF0;

// The numbers stand in the order of the members of _Py_DebugOffsets: its parts have, in 3.13, 3
// (cookie, version, free_threaded), 3, 13, 9 (thread state, from 19), 6 (frame, from 28), 10 (code,
// from 34), 2 (object, from 44), 4, 3, 3, 3, 2, 3, 3 (bytes, from 64), 4 (text, from 67)
// members. 3.14 has 3 more of the interpreter, 2 of the frame, 1 of code, and sets (4) before
// dictionaries.
Memory runtime_313() {
  return runtime_of(k313,
                    {{19, 312}, {23, 72},  {24, 152}, {28, 80},  {29, 8},   {30, 0},  {31, 56},
                     {33, 70},  {34, 208}, {35, 112}, {37, 128}, {38, 136}, {39, 68}, {43, 200},
                     {45, 8},   {65, 16},  {66, 32},  {68, 32},  {69, 16},  {70, 40}});
}
Memory runtime_314() {
  return runtime_of(k314,
                    {{22, 800}, {26, 72},  {27, 152}, {31, 88},  {32, 8},   {33, 0},  {34, 56},
                     {36, 74},  {39, 216}, {40, 112}, {42, 128}, {43, 136}, {44, 68}, {48, 208},
                     {51, 8},   {75, 16},  {76, 32},  {78, 32},  {79, 16},  {80, 40}});
}

PythonLayout layout_of(unsigned long version) {
  const Memory runtime = version == k314 ? runtime_314() : runtime_313();
  PythonLayout layout{};
  EXPECT_TRUE(find_python_layout(version, version < k313 ? nullptr : runtime.data(), layout));
  return layout;
}

// Where members stand by the headers of the versions.
struct Members {
  unsigned long version;
  std::size_t ident, frames, current;  // frames 0: in the thread's state
  std::size_t frame_code, previous, instruction, owner, frame_end;
  std::size_t file, name, lines, first_line, instructions;
  std::size_t ascii, other;
};
constexpr Members kMembers[] = {
    {k311, 152, 56, 8, 32, 48, 56, 69, 70, 112, 128, 136, 72, 184, 48, 72},
    {k312, 136, 56, 0, 0, 8, 56, 70, 71, 112, 128, 136, 68, 192, 40, 56},
    {k313, 152, 0, 72, 0, 8, 56, 70, 71, 112, 128, 136, 68, 200, 40, 56},
    {k314, 152, 0, 72, 0, 8, 56, 74, 75, 112, 128, 136, 68, 208, 40, 56},
};

TEST(PythonLayout, ThreadsAndStringsOfEachVersion) {
  for (const Members& members : kMembers) {
    SCOPED_TRACE(members.version);
    const PythonLayout layout = layout_of(members.version);
    EXPECT_EQ(layout.thread.ident, members.ident);
    EXPECT_EQ(layout.thread.frames_apart, members.frames != 0);
    EXPECT_EQ(layout.thread.frames, members.frames);
    EXPECT_EQ(layout.thread.current, members.current);
    EXPECT_EQ(layout.code.instructions, members.instructions);
    EXPECT_EQ(layout.ascii_text, members.ascii);
    EXPECT_EQ(layout.other_text, members.other);
  }
}

// The memory is as long as what is asked for: nothing behind it is read (under the sanitizers).
TEST(PythonLayout, FramesOfEachVersion) {
  for (const Members& members : kMembers) {
    SCOPED_TRACE(members.version);
    const PythonLayout layout = layout_of(members.version);
    ASSERT_EQ(layout.frame.size, members.frame_end);
    Memory memory(layout.frame.size, std::byte{0xEE});
    put(memory, members.frame_code, std::uint64_t{0x7F0000001230});
    put(memory, members.previous, std::uint64_t{0x7F0000004560});
    put(memory, members.instruction, std::uint64_t{0x7F0000001302});
    for (const std::uint8_t owner : {0, 1, 2}) {  // a thread, a generator, a frame object
      put(memory, members.owner, owner);
      const PythonFrame frame = python_frame(layout, memory.data());
      EXPECT_EQ(frame.code, 0x7F0000001230u);
      EXPECT_EQ(frame.previous, 0x7F0000004560u);
      EXPECT_EQ(frame.instruction, 0x7F0000001302u);
    }
  }
}

// From 3.12 on the interpreter puts a frame of its own where C calls Python: it has no line, and
// leads on.
TEST(PythonLayout, FramesOfTheInterpreterHaveNoCode) {
  for (const Members& members : kMembers) {
    SCOPED_TRACE(members.version);
    const PythonLayout layout = layout_of(members.version);
    Memory memory(layout.frame.size, std::byte{0xEE});
    put(memory, members.previous, std::uint64_t{0x7F0000004560});
    for (const std::uint8_t owner : {3, 4}) {
      put(memory, members.owner, owner);
      const PythonFrame frame = python_frame(layout, memory.data());
      EXPECT_EQ(frame.code, 0u);
      EXPECT_EQ(frame.previous, 0x7F0000004560u);
    }
  }
}

// 3.14 marks a reference that is not counted in the pointer's lowest bits; before, a pointer is
// one.
TEST(PythonLayout, TagsDoNotBelongToTheCode) {
  for (const unsigned long version : {k311, k312, k313, k314}) {
    const PythonLayout layout = layout_of(version);
    Memory memory(layout.frame.size, std::byte{0});
    for (const std::uint64_t tag : {1, 2, 3}) {
      put(memory, layout.frame.code, std::uint64_t{0x1230} | tag);
      EXPECT_EQ(python_frame(layout, memory.data()).code,
                version == k314 ? 0x1230u : 0x1230u | tag);
    }
  }
}

TEST(PythonLayout, CodeOfEachVersion) {
  for (const Members& members : kMembers) {
    SCOPED_TRACE(members.version);
    const PythonLayout layout = layout_of(members.version);
    ASSERT_EQ(layout.code.size, 144u);
    Memory memory(layout.code.size, std::byte{0xEE});
    put(memory, members.file, std::uint64_t{0x1110});
    put(memory, members.name, std::uint64_t{0x2220});
    put(memory, members.lines, std::uint64_t{0x3330});
    put(memory, members.first_line, std::uint32_t{70000});
    const PythonCode code = python_code(layout, memory.data());
    EXPECT_EQ(code.file, 0x1110u);
    EXPECT_EQ(code.qualified_name, 0x2220u);
    EXPECT_EQ(code.lines, 0x3330u);
    EXPECT_EQ(code.first_line, 70000u);
  }
}

// What a patch release has moved is found where it says.
TEST(PythonLayout, PublishedPlacesCount) {
  Memory runtime = runtime_313();
  put(runtime, 8 * 23, std::uint64_t{96});   // current frame
  put(runtime, 8 * 31, std::uint64_t{64});   // instruction
  put(runtime, 8 * 33, std::uint64_t{79});   // owner, the frame's last byte
  put(runtime, 8 * 38, std::uint64_t{160});  // lines
  put(runtime, 8 * 70, std::uint64_t{48});   // characters
  PythonLayout layout{};
  ASSERT_TRUE(find_python_layout(k313, runtime.data(), layout));
  EXPECT_EQ(layout.thread.current, 96);
  EXPECT_EQ(layout.frame.instruction, 64);
  EXPECT_EQ(layout.frame.owner, 79);
  EXPECT_EQ(layout.frame.size, 80);
  EXPECT_EQ(layout.code.lines, 160);
  EXPECT_EQ(layout.code.size, 168);
  EXPECT_EQ(layout.ascii_text, 48);
  EXPECT_EQ(layout.other_text, 64);
}

TEST(PythonLayout, OtherVersionsAreNotKnown) {
  const Memory runtime = runtime_313();
  PythonLayout layout{};
  // 2.7, 3.10, 3.15, 4.0, and what was before a release: alpha, beta, candidate.
  for (const unsigned long version :
       {0x020712F0ul, 0x030A08F0ul, 0x030F00F0ul, 0x040000F0ul, 0x030B00A1ul, 0x030C00B4ul,
        0x030D00C2ul, 0x030E00C1ul, 0ul, ~0ul}) {
    EXPECT_FALSE(find_python_layout(version, nullptr, layout)) << version;
    EXPECT_FALSE(find_python_layout(version, runtime.data(), layout)) << version;
  }
}

TEST(PythonLayout, LaterVersionsMustPublish) {
  PythonLayout layout{};
  for (const unsigned long version : {k313, k314}) {
    EXPECT_FALSE(find_python_layout(version, nullptr, layout));
    const Memory nothing(kPythonPublished, std::byte{0});
    EXPECT_FALSE(find_python_layout(version, nothing.data(), layout));
  }
  // Another version's, or another release's, than the one that runs.
  EXPECT_FALSE(find_python_layout(k314, runtime_313().data(), layout));
  EXPECT_FALSE(find_python_layout(k313, runtime_314().data(), layout));
  EXPECT_FALSE(find_python_layout(k313 + 0x100, runtime_313().data(), layout));
}

// A code object that would end within its head.
TEST(PythonLayout, CodeBeginsWithAHead) {
  Memory runtime = runtime_313();
  for (const std::size_t number : {35, 37, 38, 39}) put(runtime, 8 * number, std::uint64_t{8});
  PythonLayout layout{};
  EXPECT_FALSE(find_python_layout(k313, runtime.data(), layout));
  put(runtime, 8 * 38, std::uint64_t{16});
  EXPECT_TRUE(find_python_layout(k313, runtime.data(), layout));
}

// One number at a time: the cookie, free-threaded, and places that lie outside of their object, are
// not aligned, or are not what readers of strings and bytes count on.
TEST(PythonLayout, WhatCannotBeIsRefused) {
  struct Change {
    std::size_t number;
    std::uint64_t value;
  };
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  const Change changes[] = {
      {0, 0},      {2, 1},      {23, 305}, {23, 312},   {23, kHuge}, {24, 73},
      {19, 72},    {28, 8},     {29, 76},  {30, kHuge}, {31, 1000},  {33, 80},
      {33, kHuge}, {35, 113},   {37, 208}, {38, 4096},  {39, 206},   {39, 70},
      {43, 208},   {43, kHuge}, {45, 16},  {65, 24},    {66, 40},    {68, 40},
      {69, 24},    {70, 32},    {70, 72},  {70, kHuge}, {34, 140},
  };
  for (const Change& change : changes) {
    Memory runtime = runtime_313();
    put(runtime, 8 * change.number, change.value);
    PythonLayout layout{};
    EXPECT_FALSE(find_python_layout(k313, runtime.data(), layout))
        << change.number << ' ' << change.value;
  }
}

}  // namespace
}  // namespace kojak::measure
