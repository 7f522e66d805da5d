// Call sites and functions of the program: from the addresses of a local trace to definitions of
// the merged one.
//
// A site becomes a CALL_SITE. Where its callers were followed, each becomes a CALL_SITE of its own,
// and CALL_SITE_CALLER tells which leads to which.
#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "epilog/format/communication_libraries.h"
#include "epilog/format/python_code.h"
#include "epilog/format/sampled_region.h"
#include "merge/define/definitions.h"
#include "merge/define/library_names.h"

namespace kojak::merge {
namespace {

// More frames than the measurement keeps of a path.
constexpr std::size_t kMostFrames = 32;
// What stands in a path for the functions that were left out.
constexpr const char* kLeftOut = "(functions left out)";

// The system's libraries for computing, whose own lines nobody looks for: who calls them is of
// interest, also where their debugging information is installed.
bool is_system_library(std::string_view path) {
  constexpr std::string_view kNames[] = {"libc.so",        "libm.so",       "libmvec.so",
                                         "libgcc_s.so",    "libstdc++.so",  "libgfortran.so",
                                         "libquadmath.so", "libpthread.so", "ld-linux"};
  path.remove_prefix(path.rfind('/') + 1);
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return path.starts_with(name); });
}

bool holds_any(std::string_view path, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return path.find(part) != std::string_view::npos; });
}

// Sources of the system and of the compiler, the standard library's among them: what is inlined
// from there, or made of its templates, is not the program's own.
bool is_system_source(std::string_view path) {
  constexpr std::string_view kFolders[] = {"/usr/include/", "/usr/lib/", "/usr/lib64/",
                                           "/usr/local/include/"};
  constexpr std::string_view kParts[] = {"/include/c++/", "/lib/gcc/", "/lib/clang/"};
  return std::ranges::any_of(kFolders,
                             [&](std::string_view folder) { return path.starts_with(folder); }) ||
         holds_any(path, kParts);
}

// The interpreter of Python. What runs within it is the program's Python code, whichever of the
// interpreter's functions a sample met, and whatever library that code had called.
bool is_python(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.starts_with("libpython") || path == "python" || path.starts_with("python2") ||
         path.starts_with("python3");
}

// Modules of Python that belong to it or were installed, and what has no file: who calls them is of
// interest.
bool is_python_library(std::string_view path) {
  constexpr std::string_view kParts[] = {"/lib/python3", "/site-packages/", "/dist-packages/"};
  return path.starts_with('<') || holds_any(path, kParts);
}

void forget_line(CodePlace& place) {
  place.file.clear();
  place.line = kAbsent;
}

// A call in a function of the system's headers that was inlined is the program's own.
void leave_out_system_sources(std::vector<CodePlace>& places, std::size_t first) {
  std::size_t own = first;
  while (own < places.size() && is_system_source(places[own].file)) ++own;
  if (own < places.size()) {
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(first),
                 places.begin() + static_cast<std::ptrdiff_t>(own));
  }
}

}  // namespace

std::uint32_t MergedDefinitions::function(const CodePlace& place) {
  RegionDef def;
  def.name = statement_of(place.function);
  def.file = place.declared_in;
  def.begin = static_cast<Line>(place.declared_at);
  def.type = place.entry ? kLibraryFunction : 1;
  return region(def);
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

// The functions that a call came through, innermost first, as far as the measurement followed them
// and up to main.
std::vector<CodePlace> TraceDefinitions::callers(const CodeDef& site, bool sampled) {
  std::vector<CodePlace> places;
  bool inside = true;  // of main
  std::size_t frames = 0;
  const std::string* const more =
      local_.properties.find(std::string(run_property::kEnvironment) + "ELG_LIBRARIES");
  const char* const libraries = more != nullptr ? more->c_str() : nullptr;
  // Frames refer to frames with smaller numbers; a damaged file may not.
  for (const CodeDef* code = &site; inside && code != nullptr && frames < kMostFrames; ++frames) {
    if (code->cut) {
      places.emplace_back();
      places.back().function = kLeftOut;
    } else if (const CallSiteDef* line = python_line(*code)) {
      places.push_back(place_of(*line));
      if (sampled && is_python_library(places.back().file)) forget_line(places.back());
    } else {
      const ModuleDef* const module = local_.modules.find(code->module);
      if (sampled && module != nullptr && is_python(module->path)) {
        places.assign(1, CodePlace{});
        places.back().function = kPythonCode;
        return places;
      }
      const std::vector<CodePlace>& found = merged_.code_names.find(module, code->address, true);
      const std::size_t first = places.size();
      const bool entry = !sampled && found.back().begin && !is_absent(code->caller);
      places.insert(places.end(), entry ? found.end() - 1 : found.begin(), found.end());
      const bool begun = first != 0 && places[first - 1].entry && module != nullptr &&
                         is_system_library(module->path);
      if (entry) {
        // No call begins a function: the measurement tells of the one that the program called.
        forget_line(places.back());
        places.back().entry = true;
      } else if (begun) {
        // The C library's, by which a thread begins.
        for (std::size_t i = first; i < places.size(); ++i) forget_line(places[i]);
      } else if (sampled) {
        const bool library =
            module != nullptr &&
            (is_system_library(module->path) || is_library_file(module->path.c_str(), libraries));
        for (std::size_t i = first; i < places.size(); ++i) {
          if (library || is_system_source(places[i].file)) forget_line(places[i]);
        }
      } else {
        leave_out_system_sources(places, first);
      }
      if (module != nullptr) {
        places.back().function = statement_of(places.back().function, module->path);
      }
      inside = !found.back().main;
    }
    code = is_absent(code->caller) ? nullptr : local_.local_frames.find(code->caller);
  }
  // Where paths are not followed a call has its site: the function that was inlined into another.
  if (frames == 1 && inside) places.resize(1);
  return places;
}

void TraceDefinitions::take_sites() {
  // What called the caller enters it; the outermost function is entered from nowhere known.
  local_.local_sites.for_each([&](RegionId id, const CodeDef& code) {
    const RegionDef* entered = local_.regions.find(id);
    const std::vector<CodePlace> places =
        callers(code, entered != nullptr && entered->name == kSampledRegion);
    std::uint32_t merged = kAbsent;
    for (std::size_t i = std::min(places.size(), kMostSiteCallers); i-- != 0;) {
      CallSiteDef site;
      site.file = places[i].file.empty() ? absent<FileId>() : FileId{merged_.file(places[i].file)};
      site.line = static_cast<Line>(places[i].line);
      site.entered = RegionId{i == 0 ? this->merged(id) : merged_.function(places[i - 1])};
      site.left = RegionId{merged_.function(places[i])};
      site.caller = CallSiteId{merged};
      merged = merged_.call_site(site);
    }
    translation_.sites.set(raw(id), merged);
  });
}

}  // namespace kojak::merge
