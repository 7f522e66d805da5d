#include "expert/page/source_lines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "expert/page/names.h"

namespace kojak::html {
namespace {

namespace fs = std::filesystem;

// Whatever else a trace may name is nobody's source and stays out of a page that is passed on.
bool is_source(const fs::path& path) {
  constexpr std::array<std::string_view, 26> kEndings = {
      ".c",   ".h",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".hh", ".hpp",
      ".hxx", ".H",   ".inc", ".inl", ".cu",  ".cuh", ".f",   ".F",  ".for",
      ".f77", ".f90", ".F90", ".f95", ".f03", ".F03", ".f08", ".F08"};
  std::error_code error;
  return std::ranges::count(kEndings, path.extension().string()) != 0 &&
         fs::is_regular_file(path, error) && fs::file_size(path, error) <= 64'000'000 && !error;
}

// The parts of one file, `from` to `to` its places.
void read_file(const fs::path& path, const SourcePlace* from, const SourcePlace* to, bool changed,
               std::size_t& room, std::vector<SourceLines>& parts) {
  std::ifstream in(path);
  std::string line;
  long before = -kLinesBetween;  // the place before `from`
  for (long number = 1; from != to && std::getline(in, line); ++number) {
    if (number < from->line - kLinesAround && from->line - before > kLinesBetween) continue;
    const bool goes_on =
        !parts.empty() && parts.back().file == from->file &&
        parts.back().first + static_cast<long>(parts.back().lines.size()) == number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::string text = fitting_name(line, kLongestSourceLine);
    if (text.size() >= room) {
      room = 0;
      return;
    }
    room -= text.size() + 1;
    if (!goes_on) parts.push_back({from->file, number, {}, changed});
    parts.back().lines.push_back(std::move(text));
    for (; from != to && number >= from->line + kLinesAround; ++from) before = from->line;
  }
}

// In capital letters: Fortran does not tell them apart.
std::string capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Of the calls of MPI from one file, how many stand within a line of where their function is named.
// A call of several lines has one number only.
std::size_t named(const fs::path& path, const SourcePlace* from, const SourcePlace* to) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line;
       from != to && static_cast<long>(lines.size()) <= to[-1].line && std::getline(in, line);) {
    lines.push_back(capitals(std::move(line)));
  }
  std::size_t count = 0;
  for (; from != to; ++from) {
    const std::string called = capitals(from->called);
    bool found = false;
    for (long at = std::max(from->line - 1, 1L);
         at <= from->line + 1 && at <= static_cast<long>(lines.size()); ++at) {
      found = found || lines[static_cast<std::size_t>(at - 1)].find(called) != std::string::npos;
    }
    count += found;
  }
  return count;
}

bool is_mpi(const SourcePlace& place) {
  return place.called.starts_with("MPI_");
}

// The end of the places of `from`'s file.
const SourcePlace* end_of_file(const SourcePlace* from, const SourcePlace* end) {
  return std::find_if(from, end, [&](const SourcePlace& p) { return p.file != from->file; });
}

// The first folder in which most of a file's calls of MPI stand in lines that name their function;
// empty if there is none, or no such call.
fs::path folder_of(const fs::path& name, const SourcePlace* from, const SourcePlace* to,
                   const std::vector<fs::path>& folders) {
  std::vector<SourcePlace> calls;
  std::copy_if(from, to, std::back_inserter(calls), is_mpi);
  if (calls.empty()) return {};
  for (const fs::path& folder : folders) {
    const fs::path path = folder / name;
    if (!is_source(path)) continue;
    if (2 * named(path, calls.data(), calls.data() + calls.size()) > calls.size()) return folder;
  }
  return {};
}

}  // namespace

std::map<std::size_t, fs::path> find_source(const std::vector<std::string>& files,
                                            std::vector<SourcePlace> places,
                                            const std::vector<fs::path>& folders) {
  std::ranges::sort(places);
  std::map<std::size_t, fs::path> found;
  std::vector<fs::path> proven;
  std::vector<std::size_t> others;
  const SourcePlace* const end = places.data() + places.size();
  for (const SourcePlace* p = places.data(); p != end;) {
    const SourcePlace* const from = p;
    p = end_of_file(from, end);
    const fs::path name = files[from->file];
    if (name.empty()) continue;
    if (name.is_absolute()) {
      if (is_source(name)) found[from->file] = name;
    } else if (const fs::path folder = folder_of(name, from, p, folders); folder.empty()) {
      if (std::none_of(from, p, is_mpi)) others.push_back(from->file);
    } else {
      found[from->file] = folder / name;
      if (std::ranges::find(proven, folder) == proven.end()) proven.push_back(folder);
    }
  }
  for (const std::size_t file : others) {
    const auto folder =
        std::ranges::find_if(proven, [&](const fs::path& f) { return is_source(f / files[file]); });
    if (folder != proven.end()) found[file] = *folder / files[file];
  }
  return found;
}

std::vector<SourceLines> read_source(const std::vector<std::string>& files,
                                     std::vector<SourcePlace> places, const SourceSearch& search,
                                     bool& complete) {
  std::ranges::sort(places);
  const std::map<std::size_t, fs::path> found = find_source(files, places, search.folders);
  std::vector<SourceLines> parts;
  std::size_t room = kMostSource;
  const SourcePlace* const end = places.data() + places.size();
  for (const SourcePlace* p = places.data(); p != end && room != 0;) {
    const SourcePlace* const from = p;
    p = end_of_file(from, end);
    const auto path = found.find(from->file);
    if (path == found.end()) continue;
    std::error_code error;
    const fs::file_time_type written = fs::last_write_time(path->second, error);
    read_file(path->second, from, p, error || written > search.run, room, parts);
  }
  complete = room != 0;
  return parts;
}

std::optional<SourceSearch> source_search(const std::string& path) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  const fs::path folder = fs::absolute(path, error).parent_path();
  return SourceSearch{time, {fs::current_path(error), folder, folder.parent_path()}};
}

void add_source(Json& json, const std::vector<SourceLines>& source) {
  json.key("source").begin_array();
  for (const SourceLines& part : source) {
    json.begin_object().member("file", part.file).member("first", part.first);
    if (part.changed) json.member("changed", true);
    json.key("lines").begin_array();
    for (const std::string& line : part.lines) json.value(line);
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace kojak::html
