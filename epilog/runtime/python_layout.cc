#include "epilog/runtime/python_layout.h"

#include <string.h>

#include <algorithm>

namespace kojak::measure {
namespace {

constexpr unsigned long k311 = 0x030B, k312 = 0x030C, k313 = 0x030D, k314 = 0x030E;
constexpr std::uint8_t kOwnerC = 3;  // FRAME_OWNED_BY_CSTACK; in 3.14 ..._INTERPRETER, and 4

constexpr PythonLayout kLayout311 = {
    .thread = {.ident = 152, .frames_apart = true, .frames = 56, .current = 8},
    .frame = {.code = 32,
              .previous = 48,
              .instruction = 56,
              .owner = 69,
              .size = 70,
              .tag = 0,
              .first_owner_c = kOwnerC},
    .code = {.file = 112,
             .qualified_name = 128,
             .lines = 136,
             .first_line = 72,
             .size = 144,
             .instructions = 184},
    .ascii_text = 48,
    .other_text = 72};

constexpr PythonLayout kLayout312 = {
    .thread = {.ident = 136, .frames_apart = true, .frames = 56, .current = 0},
    .frame = {.code = 0,
              .previous = 8,
              .instruction = 56,
              .owner = 70,
              .size = 71,
              .tag = 0,
              .first_owner_c = kOwnerC},
    .code = {.file = 112,
             .qualified_name = 128,
             .lines = 136,
             .first_line = 68,
             .size = 144,
             .instructions = 192},
    .ascii_text = 40,
    .other_text = 56};

// Which of the numbers that a version publishes, 8 bytes each, says what.
struct Published {
  unsigned thread_size, current, ident;
  unsigned frame_size, previous, code, instruction, owner;
  unsigned code_size, file, qualified_name, lines, first_line, instructions;
  unsigned type, bytes_size, bytes_text, text_state, text_length, ascii_text;
  std::uint16_t tag;
};
constexpr unsigned kCookie = 0, kVersion = 1, kFreeThreaded = 2;

constexpr Published kPublished313 = {.thread_size = 19,
                                     .current = 23,
                                     .ident = 24,
                                     .frame_size = 28,
                                     .previous = 29,
                                     .code = 30,
                                     .instruction = 31,
                                     .owner = 33,
                                     .code_size = 34,
                                     .file = 35,
                                     .qualified_name = 37,
                                     .lines = 38,
                                     .first_line = 39,
                                     .instructions = 43,
                                     .type = 45,
                                     .bytes_size = 65,
                                     .bytes_text = 66,
                                     .text_state = 68,
                                     .text_length = 69,
                                     .ascii_text = 70,
                                     .tag = 0};

constexpr Published kPublished314 = {.thread_size = 22,
                                     .current = 26,
                                     .ident = 27,
                                     .frame_size = 31,
                                     .previous = 32,
                                     .code = 33,
                                     .instruction = 34,
                                     .owner = 36,
                                     .code_size = 39,
                                     .file = 40,
                                     .qualified_name = 42,
                                     .lines = 43,
                                     .first_line = 44,
                                     .instructions = 48,
                                     .type = 51,
                                     .bytes_size = 75,
                                     .bytes_text = 76,
                                     .text_state = 78,
                                     .text_length = 79,
                                     .ascii_text = 80,
                                     .tag = 3};

template <class T>
T read(const std::byte* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

bool read_published(unsigned long version, const std::byte* from, const Published& where,
                    PythonLayout& layout) {
  static_assert((kPublished314.ascii_text + 1) * 8 <= kPythonPublished);
  const auto number = [&](unsigned i) { return read<std::uint64_t>(from + 8 * i); };
  if (memcmp(from + 8 * kCookie, "xdebugpy", 8) != 0 || number(kVersion) != version ||
      number(kFreeThreaded) != 0 ||
      // What strings and bytes have in common in all versions, and the readers count on.
      number(where.type) != 8 || number(where.bytes_size) != 16 || number(where.bytes_text) != 32 ||
      number(where.text_length) != 16 || number(where.text_state) != 32) {
    return false;
  }
  bool good = true;
  const auto place = [&](unsigned i, unsigned width, unsigned whole, std::uint64_t most) {
    const std::uint64_t at = number(i);
    good = good && at <= most && at + width <= std::min(number(whole), most) && at % width == 0;
    return static_cast<std::uint16_t>(at);
  };
  constexpr std::uint64_t kMostThread = 0xFFFF;
  const auto in_thread = [&](unsigned i) { return place(i, 8, where.thread_size, kMostThread); };
  const auto in_frame = [&](unsigned i, unsigned width) {
    return place(i, width, where.frame_size, kMostPythonFrame);
  };
  const auto in_code = [&](unsigned i, unsigned width) {
    return place(i, width, where.code_size, kMostPythonCode);
  };
  layout.thread = {.ident = in_thread(where.ident),
                   .frames_apart = false,
                   .frames = 0,
                   .current = in_thread(where.current)};
  auto& frame = layout.frame;
  frame = {.code = in_frame(where.code, 8),
           .previous = in_frame(where.previous, 8),
           .instruction = in_frame(where.instruction, 8),
           .owner = in_frame(where.owner, 1),
           .size = 0,
           .tag = where.tag,
           .first_owner_c = kOwnerC};
  frame.size = static_cast<std::uint16_t>(
      std::max({frame.code + 8, frame.previous + 8, frame.instruction + 8, frame.owner + 1}));
  auto& code = layout.code;
  code = {.file = in_code(where.file, 8),
          .qualified_name = in_code(where.qualified_name, 8),
          .lines = in_code(where.lines, 8),
          .first_line = in_code(where.first_line, 4),
          .size = 0,
          .instructions = in_code(where.instructions, 1)};
  code.size = static_cast<std::uint16_t>(
      std::max({code.file + 8, code.qualified_name + 8, code.lines + 8, code.first_line + 4}));
  const std::uint64_t ascii_text = number(where.ascii_text);
  layout.ascii_text = static_cast<std::uint16_t>(ascii_text);
  layout.other_text = static_cast<std::uint16_t>(ascii_text + 16);  // and length, place of UTF-8
  constexpr std::uint16_t kObjectHead = 24;                         // of those that have a size
  return good && code.size >= kObjectHead && ascii_text >= 40 && ascii_text <= 64;
}

}  // namespace

bool find_python_layout(unsigned long version, const std::byte* published, PythonLayout& layout) {
  constexpr unsigned long kRelease = 0xF;
  if ((version >> 4 & 0xF) != kRelease) return false;
  switch (version >> 16) {
    case k311:
      layout = kLayout311;
      return true;
    case k312:
      layout = kLayout312;
      return true;
    case k313:
      return published != nullptr && read_published(version, published, kPublished313, layout);
    case k314:
      return published != nullptr && read_published(version, published, kPublished314, layout);
    default:
      return false;
  }
}

PythonFrame python_frame(const PythonLayout& layout, const std::byte* frame) {
  const auto& at = layout.frame;
  const std::uint64_t code = read<std::uint64_t>(frame + at.code) & ~std::uint64_t{at.tag};
  const bool own = read<std::uint8_t>(frame + at.owner) >= at.first_owner_c;
  return {own ? 0 : code, read<std::uint64_t>(frame + at.previous),
          read<std::uint64_t>(frame + at.instruction)};
}

PythonCode python_code(const PythonLayout& layout, const std::byte* code) {
  const auto& at = layout.code;
  return {read<std::uint64_t>(code + at.file), read<std::uint64_t>(code + at.qualified_name),
          read<std::uint64_t>(code + at.lines), read<std::uint32_t>(code + at.first_line)};
}

}  // namespace kojak::measure
