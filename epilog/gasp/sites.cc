#include "epilog/gasp/sites.h"

#include <string.h>

#include "epilog/format/upc_functions.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/open_regions.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {
namespace {

constexpr std::uint32_t kMostLines = 65534;

// The function that is left for the region: the innermost that the compiler has told of.
RegionId function_around(Recorder& r) {
  const OpenRegions& stack = the_open_regions;
  if (stack.depth == 0) return kRootRegion;
  const std::uint32_t* const known = r.trace->code->places.find(stack.entries[stack.depth - 1].key);
  const RegionId id = known != nullptr ? static_cast<RegionId>(*known) : kRejected;
  return id == kRejected ? kRootRegion : id;
}

}  // namespace

FileId GaspSites::file_of(Recorder& r, const char* file) {
  const auto key = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(file));
  if (const std::uint32_t* const known = files_.find(key)) return static_cast<FileId>(*known);
  const std::size_t length = strlen(file);
  if (!make_room_for(r, string_room(length) + kMaxRecord)) return absent<FileId>();
  const auto id = static_cast<FileId>(raw(new_place(*r.trace)));
  publish(r, put(r, r.cursor, File{id, define_string(r, file, length)}));
  files_.set(key, raw(id));
  return id;
}

RegionId GaspSites::plain_region(Recorder& r, unsigned function) {
  if (const std::uint32_t* const known = regions_.find(function))
    return static_cast<RegionId>(*known);
  const ShmemFunction& f = kUpcFunctions[function];
  if (!make_room_for(r, string_room(f.name.size()) + kMaxRecord)) return absent<RegionId>();
  const RegionId id = new_place(*r.trace);
  const StringId name = define_string(r, f.name.data(), f.name.size());
  publish(r, put(r, r.cursor,
                 Region{id, name, absent<FileId>(), absent<Line>(), absent<Line>(),
                        absent<StringId>(), Byte{f.region_type}}));
  regions_.set(function, raw(id));
  return id;
}

// As lines of Python: the merge takes a call site from the file, where an address would stand.
RegionId GaspSites::define(Recorder& r, std::uint64_t key, unsigned function, const char* file,
                           int line) {
  if (r.trace == nullptr && !make_room(r)) return absent<RegionId>();
  if (r.trace->code == nullptr) return absent<RegionId>();
  const RegionId plain = plain_region(r, function);
  const bool placed = file != nullptr && line > 0 && lines_ < kMostLines && more_places(*r.trace) &&
                      the_session.config.call_path != 0;
  if (plain == absent<RegionId>() || !placed) return plain;
  const RegionId left = function_around(r);
  const FileId fid = file_of(r, file);
  if (!make_room_for(r, 2 * kMaxRecord)) return plain;
  const RegionId id = new_place(*r.trace);
  std::byte* const p =
      put(r, r.cursor,
          CallSite{CallSiteId{lines_}, fid, Line{static_cast<std::uint32_t>(line)}, plain, left});
  ++lines_;
  publish(r, put(r, p, LocalSite{id, plain, absent<Count>(), Count64{lines_}, absent<Count>()}));
  sites_.set(key, id);
  return id;
}

RegionId GaspSites::find(Recorder& r, unsigned function, const char* file, int line) {
  const OpenRegions& open = the_open_regions;
  const std::uint64_t around = open.depth == 0 ? 0 : open.entries[open.depth - 1].key;
  const std::uint64_t key = mix(mix(reinterpret_cast<std::uintptr_t>(file)) + around * 3 +
                                (std::uint64_t{static_cast<std::uint32_t>(line)} << 8) + function) |
                            1;
  Slot& slot = slots_[key >> (64 - kBits)];
  if (slot.key == key) return slot.region;
  const RegionId* known = sites_.find(key);
  const RegionId id = known != nullptr
                          ? *known
                          : on_own_stack([&] { return define(r, key, function, file, line); });
  if (id != absent<RegionId>()) slot = {key, id};
  return id;
}

void GaspSites::clear() {
  sites_.clear();
  regions_.clear();
  files_.clear();
}

}  // namespace kojak::measure
