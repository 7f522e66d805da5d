#include "epilog/runtime/user_regions.h"

#include <string.h>

#include "epilog/runtime/code.h"
#include "epilog/runtime/elg_user.h"
#include "epilog/runtime/filter.h"
#include "epilog/runtime/open_regions.h"
#include "epilog/runtime/user_names.h"

namespace kojak::measure {

namespace {

std::uint64_t key_of(const void* address, std::uint64_t kind) {
  return reinterpret_cast<std::uintptr_t>(address) | kind;
}

bool define_user_region(Recorder& r, RegionId id, const elg_region& region) {
  const std::size_t length = strlen(region.name);
  const std::size_t path = region.file == nullptr ? 0 : strlen(region.file);
  if (!make_room_for(r, string_room(length) + string_room(path) + 2 * kMaxRecord)) return false;
  const StringId name = define_string(r, region.name, length);
  auto file = absent<FileId>();
  if (path != 0) {
    const StringId text = define_string(r, region.file, path);
    file = static_cast<FileId>(raw(id));
    publish(r, put(r, r.cursor, File{file, text}));
  }
  const auto line =
      region.line > 0 ? Line{static_cast<std::uint32_t>(region.line)} : absent<Line>();
  publish(r, put(r, r.cursor,
                 Region{id, name, file, line, absent<Line>(), absent<StringId>(), Byte{3}}));
  return true;
}

bool define_function(Recorder& r, RegionId id, const void* function) {
  auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(function));
  const Count module = define_module(r, address);
  if (!make_room_for(r, kMaxRecord)) return false;
  publish(r, put(r, r.cursor, LocalFunction{id, module, Count64{address}}));
  return true;
}

void enter(std::uint64_t key, const void* what) {
  RegionEvent().enter(key, what);
}

// Takes the innermost `count` regions off.
void leave(std::uint64_t count) {
  RegionEvent().leave(count);
}

}  // namespace

RegionId define_user(Recorder& r, std::uint64_t key, const void* what) {
  LocalTrace& trace = *r.trace;
  const bool function = (key & kUserKey) == 0;
  const bool wanted =
      function ? function_passes(what) : name_passes(static_cast<const elg_region*>(what)->name);
  RegionId id = kRejected;
  if (wanted && more_places(trace)) {
    id = new_place(trace);
    const bool good = function ? define_function(r, id, what)
                               : define_user_region(r, id, *static_cast<const elg_region*>(what));
    if (!good) return kRejected;
  }
  remember(r, key, id);
  return id;
}

}  // namespace kojak::measure

using namespace kojak::measure;

#define KOJAK_EXPORTED extern "C" __attribute__((visibility("default"), used))

KOJAK_EXPORTED void elg_region_begin(const elg_region* region) {
  if (!RegionEvent::is_busy()) enter(key_of(region, kUserKey), region);
}

KOJAK_EXPORTED void elg_region_end(const char* name) {
  OpenRegions& stack = the_open_regions;
  if (RegionEvent::is_busy()) return;
  for (std::uint64_t i = stack.depth; i-- != 0;) {
    const OpenRegions::Entry& entry = stack.entries[i];
    if ((entry.key & kUserKey) == 0) continue;
    const char* const open = static_cast<const elg_region*>(entry.what)->name;
    if (open == name || strcmp(open, name) == 0) return leave(stack.depth - i);
  }
}

namespace {
// Names that come to be while the program runs, and Fortran's: the text is what tells them apart.
const elg_region* interned(const char* text, std::size_t length, const char* file, int line) {
  const RegionEvent event;
  return named_region(text, length, file, line);
}
}  // namespace

KOJAK_EXPORTED const char* elg_region_begin_named(const char* name, const char* file, int line) {
  if (name == nullptr || RegionEvent::is_busy()) return nullptr;
  const elg_region* const region = interned(name, strlen(name), file, line);
  if (region == nullptr) return nullptr;
  enter(key_of(region, kUserKey), region);
  return region->name;
}

KOJAK_EXPORTED void __cyg_profile_func_enter(void* function, void*) {
  if (!RegionEvent::is_busy()) enter(key_of(function, kFunctionKey), function);
}

KOJAK_EXPORTED void __cyg_profile_func_exit(void* function, void*) {
  OpenRegions& stack = the_open_regions;
  if (stack.depth == 0 || RegionEvent::is_busy()) return;
  const std::uint64_t key = key_of(function, kFunctionKey);
  if (stack.entries[stack.depth - 1].key == key) return leave(1);
  const CodeSlot& slot = the_recorder.codes[code_slot(key)];
  if (slot.key == key && slot.id == kRejected) return;
  for (std::uint64_t i = stack.depth - 1; i-- != 0;) {
    if (stack.entries[i].key == key) return leave(stack.depth - i);
  }
}

// Fortran: a name and its length, with blanks behind it.
namespace {
const elg_region* fortran_region(const char* text, std::size_t length) {
  if (RegionEvent::is_busy()) return nullptr;
  while (length != 0 && text[length - 1] == ' ') --length;
  return interned(text, length, nullptr, 0);
}
void fortran_begin(const char* text, std::size_t length) {
  if (const elg_region* region = fortran_region(text, length)) elg_region_begin(region);
}
void fortran_end(const char* text, std::size_t length) {
  if (const elg_region* region = fortran_region(text, length)) elg_region_end(region->name);
}
}  // namespace
#define KOJAK_SPELLING(name, does)                                 \
  KOJAK_EXPORTED void name(const char* text, std::size_t length) { \
    does(text, length);                                            \
  }
KOJAK_SPELLING(elg_user_start, fortran_begin)
KOJAK_SPELLING(elg_user_start_, fortran_begin)
KOJAK_SPELLING(elg_user_start__, fortran_begin)
KOJAK_SPELLING(elg_user_end, fortran_end)
KOJAK_SPELLING(elg_user_end_, fortran_end)
KOJAK_SPELLING(elg_user_end__, fortran_end)
#undef ELG_USER_START
#undef ELG_USER_END
KOJAK_SPELLING(ELG_USER_START, fortran_begin)
KOJAK_SPELLING(ELG_USER_END, fortran_end)
