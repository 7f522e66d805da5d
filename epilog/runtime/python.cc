#include "epilog/runtime/python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "epilog/runtime/call_path.h"
#include "epilog/runtime/libraries.h"
#include "epilog/runtime/python_memory.h"
#include "epilog/runtime/python_text.h"

namespace kojak::measure {
namespace {

constexpr std::size_t kBytesText = 32;  // PyBytesObject.ob_sval
struct TextHead {
  PythonObject head;
  std::uint64_t hash;
  std::uint32_t state;
  std::uint32_t unused;
  unsigned kind() const { return state >> 2 & 7; }
  bool compact() const { return (state >> 5 & 1) != 0; }
  bool ascii() const { return (state >> 6 & 1) != 0; }
};
static_assert(offsetof(TextHead, state) == 32);

constexpr std::size_t kMostFramesUp = 128;
constexpr std::size_t kMostText = 1000;         // characters of a name
constexpr std::size_t kMostLines = 256 * 1024;  // bytes of a table of locations
constexpr std::size_t kSlots = 256;

std::atomic<bool> tried{false};  // a place was read, and all was right

// A string of the interpreter as it lies in memory.
struct RawText {
  std::uint64_t object;
  std::uint64_t from;  // its characters
  std::uint64_t length;
  unsigned kind;  // bytes of a character
  std::size_t size() const { return length * kind; }
};

bool find_text(const PythonReader& reader, std::uint64_t object, RawText& text) {
  TextHead head;
  if (!reader.copy(object, &head, sizeof head) || head.head.type != the_python.text_type ||
      !head.compact() || head.head.size > kMostText) {
    return false;
  }
  const PythonLayout& layout = the_python.layout;
  text = {object, object + (head.ascii() ? layout.ascii_text : layout.other_text), head.head.size,
          head.kind()};
  return text.kind == 1 || text.kind == 2 || text.kind == 4;
}

std::uint64_t hash_of(std::uint64_t hash, const char* text, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001B3u;
  }
  return mix(hash + length);
}

enum class Part : std::uint8_t { kProgram, kLibrary, kMachinery };

// What a frame's code object and instruction were, and what lay where they point to.
struct PlaceSlot {
  std::uint64_t code, instruction;
  RawText file, name;
  std::uint64_t lines_object, lines_size;
  std::uint32_t first_line, line;
  std::byte* content;  // file, name, lines
  std::size_t content_size;
  std::uint64_t function_key;  // of its file, name and first line
  std::uint64_t key;           // of these and its line
  Part part;
};

}  // namespace

// A thread's.
struct PythonPlaces {
  PlaceSlot slots[kSlots];
  bool first_thread;
  PythonChain chain;  // as seen last
  Vector<std::byte> room;
  HashMap<std::uint32_t> functions;  // to regions
  HashMap<std::uint32_t> lines;      // with what they enter, to call sites
  char name[4 * kMostText + 1];
  char file[4 * kMostText + 1];
};

void release_python_places(PythonPlaces* places) {
  if (places == nullptr) return;
  for (PlaceSlot& slot : places->slots) {
    if (slot.content != nullptr) release(slot.content, slot.content_size);
  }
  places->room.clear();
  places->functions.clear();
  places->lines.clear();
  destroy(places);
}

namespace {

// Reads what a frame's code object says. False if it is not one.
bool read_code(PythonPlaces& places, const PythonReader& reader, const PythonFrame& frame,
               PlaceSlot& slot) {
  std::byte raw_code[kMostPythonCode];
  RawText file, name;
  PythonObject head, lines;
  if (!reader.copy(frame.code, raw_code, the_python.layout.code.size)) return false;
  memcpy(&head, raw_code, sizeof head);
  const PythonCode code = python_code(the_python.layout, raw_code);
  if (head.type != the_python.code_type || !find_text(reader, code.file, file) ||
      !find_text(reader, code.qualified_name, name) ||
      !reader.copy(code.lines, &lines, sizeof lines) || lines.type != the_python.bytes_type ||
      lines.size > kMostLines) {
    return false;
  }
  const std::uint64_t begin = frame.code + the_python.layout.code.instructions;
  if (frame.instruction < begin || frame.instruction - begin >= 2 * head.size) return false;
  slot.code = 0;  // what the slot held is gone
  const std::size_t size = file.size() + name.size() + lines.size;
  if (slot.content_size < size) {
    if (slot.content != nullptr) release(slot.content, slot.content_size);
    slot.content = static_cast<std::byte*>(allocate(size));
    slot.content_size = slot.content != nullptr ? size : 0;
    if (slot.content == nullptr) return false;
  }
  std::byte* const name_at = slot.content + file.size();
  std::byte* const lines_at = name_at + name.size();
  if (!reader.copy(file.from, slot.content, file.size()) ||
      !reader.copy(name.from, name_at, name.size()) ||
      !reader.copy(code.lines + kBytesText, lines_at, lines.size)) {
    return false;
  }
  slot.file = file;
  slot.name = name;
  slot.lines_object = code.lines;
  slot.lines_size = lines.size;
  slot.first_line = code.first_line;
  slot.line = python_line(reinterpret_cast<const unsigned char*>(lines_at), lines.size,
                          code.first_line, (frame.instruction - begin) / 2);
  const std::size_t file_length = utf8_of(slot.content, file.length, file.kind, places.file);
  const std::size_t name_length = utf8_of(name_at, name.length, name.kind, places.name);
  slot.function_key =
      hash_of(hash_of(slot.first_line, places.file, file_length), places.name, name_length);
  slot.key = mix(slot.function_key + slot.line);
  slot.part = strncmp(places.file, "<frozen importlib", 17) == 0 ? Part::kMachinery
              : is_library_script(places.file)                   ? Part::kLibrary
                                                                 : Part::kProgram;
  slot.code = frame.code;
  slot.instruction = frame.instruction;
  return true;
}

// What tells a code object from another one at its address, of what it points to.
std::uint64_t identity_of(const PythonCode& code) {
  return mix(mix(mix(code.file) + code.qualified_name) + code.lines) + code.first_line;
}
std::uint64_t identity_of(const PlaceSlot& slot) {
  return identity_of(
      PythonCode{slot.file.object, slot.name.object, slot.lines_object, slot.first_line});
}

// Whether a slot says what a frame's code object says now: it may have been freed meanwhile, and
// another one lie there.
bool is_same(PythonPlaces& places, const PythonReader& reader, const PythonFrame& frame,
             const PlaceSlot& slot) {
  if (slot.code != frame.code || slot.instruction != frame.instruction) return false;
  Piece pieces[] = {{slot.code, the_python.layout.code.size, nullptr},
                    {slot.file.object, sizeof(PythonObject), nullptr},
                    {slot.file.from, slot.file.size(), nullptr},
                    {slot.name.object, sizeof(PythonObject), nullptr},
                    {slot.name.from, slot.name.size(), nullptr},
                    {slot.lines_object, sizeof(PythonObject), nullptr},
                    {slot.lines_object + kBytesText, slot.lines_size, nullptr}};
  if (!reader.look(pieces, places.room)) return false;
  const auto& [code, file_head, file, name_head, name, lines_head, lines] = pieces;
  // What the code object does not point to any more may not be there any more.
  const PythonCode now = python_code(the_python.layout, code.here);
  if (code.as<PythonObject>().type != the_python.code_type || now.first_line != slot.first_line ||
      now.file != slot.file.object || now.qualified_name != slot.name.object ||
      now.lines != slot.lines_object) {
    return false;
  }
  const std::byte* const kept_name = slot.content + file.size;
  const std::byte* const kept_lines = kept_name + name.size;
  return file_head.as<PythonObject>().size == slot.file.length &&
         name_head.as<PythonObject>().size == slot.name.length &&
         lines_head.as<PythonObject>().size == slot.lines_size &&
         memcmp(file.here, slot.content, file.size) == 0 &&
         memcmp(name.here, kept_name, name.size) == 0 &&
         memcmp(lines.here, kept_lines, lines.size) == 0;
}

PlaceSlot* place_of(PythonPlaces& places, const PythonReader& reader, const PythonFrame& frame) {
  PlaceSlot& slot = places.slots[mix(frame.code ^ frame.instruction) % kSlots];
  if (is_same(places, reader, frame, slot)) return &slot;
  return read_code(places, reader, frame, slot) ? &slot : nullptr;
}

// The lines of the thread's frames that name its call.
struct Lines {
  PythonFrame program;  // the innermost line of the program
  // What it called in a package like mpi4py's own modules; code is 0 if none.
  PythonFrame operation;
  std::uint64_t key;  // of both places
};

// The thread's innermost frame and what stands there; 0 if there is none. What lay where the last
// time is asked for at once, and holds if it is still so.
std::uint64_t innermost_frame(PythonPlaces& places, const PythonReader& reader,
                              PythonFrame& frame) {
  const auto& where = the_python.layout.thread;
  constexpr std::size_t kPointer = sizeof(std::uint64_t);
  if (!reader.direct &&
      places.chain.thread == reinterpret_cast<std::uint64_t>(the_python.thread_state())) {
    Piece pieces[] = {{places.chain.thread + where.ident, kPointer, nullptr},
                      {places.chain.thread + where.frames, kPointer, nullptr},
                      {places.chain.frames + where.current, kPointer, nullptr},
                      {places.chain.innermost, the_python.layout.frame.size, nullptr}};
    if (places.chain.innermost != 0 && reader.look(pieces, places.room) &&
        pieces[0].as<std::uint64_t>() == static_cast<std::uint64_t>(pthread_self()) &&
        (!where.frames_apart || pieces[1].as<std::uint64_t>() == places.chain.frames) &&
        pieces[2].as<std::uint64_t>() == places.chain.innermost) {
      frame = python_frame(the_python.layout, pieces[3].here);
      return places.chain.innermost;
    }
  }
  places.chain = python_chain(reader);
  if (!read_python_frame(reader, places.chain.innermost, frame)) places.chain.innermost = 0;
  return places.chain.innermost;
}

bool find_lines(PythonPlaces& places, const PythonReader& reader, Lines& lines) {
  std::uint64_t at = innermost_frame(places, reader, lines.program);
  lines.operation.code = 0;
  lines.key = 0;
  for (std::size_t i = 0; i < kMostFramesUp && at != 0; ++i) {
    if (lines.program.code != 0) {
      const PlaceSlot* const slot = place_of(places, reader, lines.program);
      if (slot == nullptr) return false;
      if (slot->part == Part::kProgram) {
        lines.key = mix(lines.key ^ slot->key);
        return true;
      }
      if (slot->part == Part::kLibrary) {
        lines.operation = lines.program;
        lines.key = mix(slot->key);
      }
    }
    at = lines.program.previous;
    if (at != 0 && !read_python_frame(reader, at, lines.program)) return false;
  }
  return false;
}

Line line_of(std::uint32_t line) {
  return line != 0 ? static_cast<Line>(line) : absent<Line>();
}

// The Python function that a place lies in, as a region. Absent without room.
RegionId define_python_function(Recorder& r, PythonPlaces& places, const PlaceSlot& slot) {
  if (const std::uint32_t* known = places.functions.find(slot.function_key)) {
    return static_cast<RegionId>(*known);
  }
  const std::size_t file_length =
      utf8_of(slot.content, slot.file.length, slot.file.kind, places.file);
  const std::size_t name_length =
      utf8_of(slot.content + slot.file.size(), slot.name.length, slot.name.kind, places.name);
  if (!make_room_for(r, string_room(file_length) + string_room(name_length) + 2 * kMaxRecord)) {
    return absent<RegionId>();
  }
  const RegionId id = new_place(*r.trace);
  const StringId file = define_string(r, places.file, file_length);
  const StringId name = define_string(r, places.name, name_length);
  constexpr std::uint8_t kFunction = 1;
  std::byte* const p = put(r, r.cursor, File{static_cast<FileId>(raw(id)), file});
  publish(r, put(r, p,
                 Region{id, name, static_cast<FileId>(raw(id)), line_of(slot.first_line),
                        absent<Line>(), absent<StringId>(), Byte{kFunction}}));
  places.functions.set(slot.function_key, raw(id));
  return id;
}

// A line as a call site, and what stands for it in the place of an address; 0 without room.
std::uint64_t define_line(Recorder& r, PythonPlaces& places, const PlaceSlot* slot,
                          RegionId entered) {
  constexpr std::uint32_t kMostLinesDefined = 65534;
  if (slot == nullptr || entered == absent<RegionId>()) return 0;
  const std::uint64_t key = mix(slot->key + raw(entered));
  if (const std::uint32_t* known = places.lines.find(key)) return std::uint64_t{*known} + 1;
  const RegionId function = define_python_function(r, places, *slot);
  if (function == absent<RegionId>() || places.lines.size() >= kMostLinesDefined ||
      !make_room_for(r, kMaxRecord)) {
    return 0;
  }
  const auto id = static_cast<std::uint32_t>(places.lines.size());
  publish(r, put(r, r.cursor,
                 CallSite{CallSiteId{id}, static_cast<FileId>(raw(function)), line_of(slot->line),
                          entered, function}));
  places.lines.set(key, id);
  return std::uint64_t{id} + 1;
}

bool open_places(CodeTable& code) {
  if (code.python != nullptr) return true;
  code.python = create<PythonPlaces>();
  if (code.python == nullptr) return false;
  code.python->first_thread = gettid() == getpid();
  return true;
}

// The frame of a line that calls a function.
Count define_caller(Recorder& r, std::uint64_t line) {
  if (line == 0 || !make_room_for(r, kMaxRecord)) return absent<Count>();
  const Count frame{r.trace->code->next_frame++};
  publish(r, put(r, r.cursor, LocalFrame{frame, absent<Count>(), Count64{line}, absent<Count>()}));
  return frame;
}

}  // namespace

RegionId define_python_site(Recorder& r, unsigned function, const void* entry) {
  if (!find_python()) return absent<RegionId>();
  CodeTable& code = *r.trace->code;
  if (!open_places(code)) return absent<RegionId>();
  PythonPlaces& places = *code.python;
  const PythonReader reader{places.first_thread && tried.load(std::memory_order_relaxed)};
  Lines lines;
  if (!find_lines(places, reader, lines)) return absent<RegionId>();
  if (!reader.direct) tried.store(true, std::memory_order_relaxed);
  const std::uint64_t key =
      mix(lines.key + mix(reinterpret_cast<std::uintptr_t>(entry) ^ function)) | std::uint64_t{1}
                                                                                     << 63;
  if (const std::uint32_t* known = code.places.find(key)) return static_cast<RegionId>(*known);

  const RegionId called = region_of(function);
  if (!more_places(*r.trace)) return called;
  const auto line = [&](const PythonFrame& frame, RegionId entered) {
    return define_line(r, places, place_of(places, reader, frame), entered);
  };
  const bool library = entry == nullptr && lines.operation.code != 0;
  RegionId entered = called;
  if (library) {
    const PlaceSlot* const slot = place_of(places, reader, lines.operation);
    entered = slot != nullptr ? define_python_function(r, places, *slot) : absent<RegionId>();
  }
  std::uint64_t at = line(lines.program, entered);
  if (at == 0) return absent<RegionId>();
  Count caller = absent<Count>();
  if (entry != nullptr || library) {
    caller = define_caller(r, at);
    at = library ? line(lines.operation, called) : reinterpret_cast<std::uintptr_t>(entry);
    if (at == 0) return absent<RegionId>();
  }
  return add_site(r, called, key, reinterpret_cast<const void*>(at), caller);
}

void prepare_python_samples() {
  // An interpreter that comes later is found by the first call that comes out of it.
  if (dlsym(RTLD_DEFAULT, "Py_Version") != nullptr && find_python()) the_python.thread_state();
}

// A function of its own: what it reads into does not lie on the stack beside a frame's bytes.
[[gnu::noinline]] static bool note_code(const PythonReader& reader, const PythonFrame& frame,
                                        NotedPythonFrame& noted) {
  std::byte raw_code[kMostPythonCode];
  PythonObject head;
  if (!reader.copy(frame.code, raw_code, the_python.layout.code.size)) return false;
  memcpy(&head, raw_code, sizeof head);
  if (head.type != the_python.code_type) return false;
  noted = {frame.code, frame.instruction, identity_of(python_code(the_python.layout, raw_code))};
  return true;
}

void interrupted_python(std::span<const std::uintptr_t> path, PythonSample& sample) {
  sample.frames = 0;
  sample.more = 0;
  const auto is_interpreter = [](std::uintptr_t address) {
    return the_python.interpreter.holds(reinterpret_cast<const void*>(address));
  };
  if (!python_is_found() || std::ranges::none_of(path, is_interpreter)) return;
  const PythonReader reader{false};
  std::uint64_t at = python_chain(reader).innermost;
  for (std::size_t i = 0; i < kMostFramesUp && at != 0; ++i) {
    PythonFrame frame;
    if (sample.frames == kMostPythonFrames) {
      sample.more = 1;
      break;
    }
    if (!read_python_frame(reader, at, frame)) break;
    at = frame.previous;
    if (frame.code == 0) continue;
    if (!note_code(reader, frame, sample.frame[sample.frames])) break;
    ++sample.frames;
  }
}

RegionId define_python_sample(Recorder& r, RegionId region, const PythonSample& sample) {
  const unsigned frames = std::min<unsigned>(sample.frames, kMostPythonFrames);
  if (frames == 0 || !python_is_found() || r.trace->code == nullptr ||
      !open_places(*r.trace->code)) {
    return absent<RegionId>();
  }
  PythonPlaces& places = *r.trace->code->python;
  const PythonReader reader{false};  // a code object may have been freed since
  // Slots are few: who asks for the next one may lose the one before.
  const auto slot_of = [&](unsigned i) -> const PlaceSlot* {
    const NotedPythonFrame& noted = sample.frame[i];
    const PlaceSlot* const slot = place_of(places, reader, {noted.code, 0, noted.instruction});
    return slot != nullptr && identity_of(*slot) == noted.identity ? slot : nullptr;
  };
  RegionId entered = region;
  std::uintptr_t line[kMostPythonFrames];
  for (unsigned i = 0; i < frames; ++i) {
    const PlaceSlot* const slot = slot_of(i);
    line[i] = define_line(r, places, slot, entered);
    if (line[i] == 0) return absent<RegionId>();
    entered = define_python_function(r, places, *slot);
  }
  --line[0];  // where a sample is, not behind a call
  return define_sampled(r, region, {line, frames}, sample.more != 0);
}

}  // namespace kojak::measure
