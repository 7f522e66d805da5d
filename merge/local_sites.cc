// Call sites and functions of the program: from the addresses of a local trace to definitions of
// the merged one.
//
// A site becomes a CALL_SITE. Where its callers were followed, each becomes a CALL_SITE of its own,
// and the engine enters them around the call (Translation::site_paths).
#include <algorithm>

#include "merge/definitions.h"
#include "merge/library_names.h"

namespace kojak::merge {

std::uint32_t MergedDefinitions::function(const CodePlace& place) {
  if (!place.declared_in.empty()) file(place.declared_in);
  const auto begin = static_cast<Line>(place.declared_at);
  const std::string name = statement_of(place.function);
  const auto [it, fresh] = region_ids_.try_emplace(
      std::tuple(name, place.declared_in, std::string(), raw(begin), kAbsent, std::uint8_t{1}),
      static_cast<std::uint32_t>(regions.size()));
  if (fresh) {
    regions.push_back(
        {name, place.declared_in, "", begin, absent<Line>(), 1, MpiRole::kOther, false});
  }
  return it->second;
}

std::uint32_t MergedDefinitions::call_site(const MergedCallSite& site) {
  const auto [it, fresh] =
      call_site_ids_.try_emplace(std::tuple(site.file, raw(site.line), site.entered, site.left),
                                 static_cast<std::uint32_t>(call_sites.size()));
  if (fresh) call_sites.push_back(site);
  return it->second;
}

std::uint32_t TraceDefinitions::function(const CodeDef& code) {
  return merged_.function(
      merged_.code_names.find(local_.modules.find(code.module), code.address, false).back());
}

// A place without code: its name was known when it was recorded. Its address is then one more than
// the number of a CALL_SITE of the same trace, which is less than any program's lowest address.
const CallSiteDef* TraceDefinitions::python_line(const CodeDef& code) const {
  constexpr std::uint64_t kNoCodeBelow = 1 << 16;
  if (!is_absent(code.module) || code.address == 0 || code.address >= kNoCodeBelow) return nullptr;
  return local_.call_sites.find(static_cast<CallSiteId>(code.address - 1));
}

CodePlace TraceDefinitions::place_of(const CallSiteDef& line) const {
  CodePlace place;
  if (const RegionDef* function = local_.regions.find(line.left)) {
    place.function = function->name;
    place.declared_in = function->file;
    place.declared_at = raw(function->begin);
  }
  if (const std::string* file = local_.files.find(line.file)) place.file = *file;
  place.line = raw(line.line);
  return place;
}

// The functions that a call came through, innermost first, as many as the measurement followed.
std::vector<CodePlace> TraceDefinitions::callers(const CodeDef& site) {
  std::vector<CodePlace> places;
  std::size_t frames = 0;
  bool inside = true;  // of main
  // Frames refer to frames with smaller numbers; a damaged file may not.
  constexpr std::size_t kMostFrames = 16;
  for (const CodeDef* code = &site; code != nullptr && frames < kMostFrames; ++frames) {
    if (const CallSiteDef* line = python_line(*code)) {
      places.push_back(place_of(*line));
    } else if (inside) {
      const ModuleDef* const module = local_.modules.find(code->module);
      const std::vector<CodePlace>& found = merged_.code_names.find(module, code->address, true);
      places.insert(places.end(), found.begin(), found.end());
      if (module != nullptr) {
        places.back().function = statement_of(places.back().function, module->path);
      }
      inside = !found.back().main;
    }
    code = is_absent(code->caller) ? nullptr : local_.local_frames.find(code->caller);
  }
  // Inlined functions count as functions, too.
  if (places.size() > frames)
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(frames), places.end());
  return places;
}

void TraceDefinitions::take_sites() {
  const auto site_of = [&](const CodePlace& place, std::uint32_t entered) {
    MergedCallSite site;
    if (!place.file.empty()) site.file = merged_.file(place.file);
    site.line = static_cast<Line>(place.line);
    site.entered = entered;
    site.left = merged_.function(place);
    return merged_.call_site(site);
  };
  local_.local_sites.for_each([&](RegionId id, const CodeDef& code) {
    const std::vector<CodePlace> places = callers(code);
    SitePath path;
    path.site = site_of(places.front(), region(raw(id)));
    // What called the caller enters it; the outermost function is entered from nowhere known.
    for (std::size_t i = 1; i < places.size(); ++i) {
      path.callers.push_back(site_of(places[i], merged_.function(places[i - 1])));
    }
    std::reverse(path.callers.begin(), path.callers.end());
    translation_.sites.set(raw(id), static_cast<std::uint32_t>(translation_.paths.size()));
    translation_.paths.push_back(std::move(path));
  });
}

}  // namespace kojak::merge
