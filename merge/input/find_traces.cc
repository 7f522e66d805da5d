#include "merge/input/find_traces.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "epilog/format/io/local_buffer.h"
#include "epilog/format/io/reader.h"

namespace kojak::merge {
namespace {

// More processes than any machine has: a larger number is damage.
constexpr std::uint32_t kMaxProcesses = 1u << 24;

constexpr std::size_t kFirstRecords = 4096;  // bytes that tell what a file is

constexpr const char* kGiveLocal = "give the directory or the files that the measurement wrote";

Error bad(const std::string& path, std::string reason, std::string remedy) {
  return {ExitCode::kBadInput, path, std::nullopt, "", "", std::move(reason), std::move(remedy)};
}

// What a file turned out to be. kOther: no trace at all, or none that can be merged; why in error.
struct Candidate {
  enum class Kind : std::uint8_t { kLocal, kMerged, kClassic, kOther } kind = Kind::kOther;
  LocalTrace trace;
  Error error;
  bool fatal = false;  // a trace that a newer version wrote: never to be ignored
};

class Finder {
 public:
  Finder(FileCache& files, Summary& summary) : files_(files), summary_(summary) {}

  Status add_argument(const std::string& path) {
    struct stat info {};
    if (path != "-" && ::stat(path.c_str(), &info) != 0) {
      return bad(path, std::string("cannot be opened: ") + strerror(errno), "check the name");
    }
    if (path != "-" && S_ISDIR(info.st_mode)) return add_directory(path);
    auto candidate = examine(path);
    if (!candidate) return candidate.error();
    if (candidate->kind != Candidate::Kind::kLocal) return candidate->error;
    add_parts(std::move(candidate->trace));
    return {};
  }

  Result<std::vector<LocalTrace>> finish() {
    std::sort(found_.begin(), found_.end(), [](const LocalTrace& a, const LocalTrace& b) {
      return std::tie(a.rank, a.thread, a.path) < std::tie(b.rank, b.thread, b.path);
    });
    if (Status status = check_runs(); !status) return status.error();
    if (Status status = drop_duplicates(); !status) return status.error();
    return std::move(found_);
  }

 private:
  Status add_directory(const std::string& directory) {
    std::vector<std::string> seen;
    std::size_t local = 0;
    Error classic, other;
    // Twice: traces of a process that was killed may be made while another one is waited for.
    for (int round = 0; round < 2; ++round) {
      auto names = traces_in(directory);
      if (!names) return names.error();
      std::vector<std::string> unseen;
      std::set_difference(names->begin(), names->end(), seen.begin(), seen.end(),
                          std::back_inserter(unseen));
      for (const std::string& name : unseen) {
        struct stat info {};
        if (::stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
        // Made, and ended before anything was written: as good as no file.
        if (info.st_size == 0 && name.ends_with(".0.elg") &&
            find_buffer(name).kind == BufferFile::Kind::kNone) {
          continue;
        }
        auto candidate = examine(name);
        if (!candidate) return candidate.error();
        switch (candidate->kind) {
          case Candidate::Kind::kLocal:
            add_parts(std::move(candidate->trace));
            ++local;
            break;
          case Candidate::Kind::kClassic:
            if (classic.reason.empty()) classic = candidate->error;
            [[fallthrough]];
          case Candidate::Kind::kMerged:
            summary_.add(Finding::kNotLocal, 1, [&] { return name; });
            break;
          case Candidate::Kind::kOther:
            if (candidate->fatal) return candidate->error;
            if (other.reason.empty()) other = candidate->error;
            summary_.add(Finding::kNoTrace, 1, [&] { return candidate->error.message(); });
            break;
        }
      }
      seen = std::move(*names);
    }
    if (local != 0) return {};
    if (!classic.reason.empty()) return classic;
    if (!other.reason.empty()) return other;
    return bad(directory, "holds no local traces",
               "give the directory that the measurement wrote (ELG_DIR, or elg_<program>_<n>)");
  }

  static Result<std::vector<std::string>> traces_in(const std::string& directory) {
    std::error_code failure;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator it(directory, failure), end; !failure && it != end;
         it.increment(failure)) {
      const std::string name = it->path().filename().string();
      if (name.ends_with(".elg") || name.ends_with(".elg.gz") || name.ends_with(".elg.zst"))
        names.push_back(it->path().string());
    }
    if (failure) return bad(directory, "cannot be read: " + failure.message(), "check the name");
    std::sort(names.begin(), names.end());
    return names;
  }

  // Makes the bytes of a file readable at any offset.
  Status place(const std::string& path, LocalTrace& trace) {
    struct stat info {};
    auto source = open_source(path);
    if (!source) return source.error();
    if (!(*source)->seekable()) return copy(**source, trace);
    source->reset();
    if (::stat(path.c_str(), &info) != 0) {
      return bad(path, std::string("cannot be opened: ") + strerror(errno), "check the file");
    }
    trace.device = info.st_dev;
    trace.inode = info.st_ino;
    const auto length = static_cast<std::uint64_t>(info.st_size);
    trace.parts.push_back({files_.add(path), 0, length});
    trace.size = length;
    add_buffer(path, trace);
    return {};
  }

  Status copy(ByteSource& source, LocalTrace& trace) {
    std::vector<std::byte> buffer(128 * 1024);
    const std::uint64_t begin = files_.spilled();
    for (;;) {
      const std::ptrdiff_t n = source.read(buffer.data(), buffer.size());
      if (n < 0) trace.damaged = true;
      if (n <= 0) break;
      auto where = files_.spill(buffer.data(), static_cast<std::size_t>(n));
      if (!where) return where.error();
    }
    trace.size = files_.spilled() - begin;
    trace.parts.push_back({FileCache::kSpill, begin, trace.size});
    return {};
  }

  // The buffer file of a process that was killed adds what it had not flushed.
  void add_buffer(const std::string& path, LocalTrace& trace) {
    const BufferFile buffer = find_buffer(path);
    const LocalBufferHeader& header = buffer.header;
    const auto named = [&] { return buffer.path + ": " + buffer.reason; };
    switch (buffer.kind) {
      case BufferFile::Kind::kNone:
        return;
      case BufferFile::Kind::kElsewhere:
        return summary_.add(Finding::kBufferElsewhere, 1, named);
      case BufferFile::Kind::kForeign:
        return summary_.add(Finding::kForeignBuffer, 1, named);
      case BufferFile::Kind::kBad:
        return summary_.add(Finding::kBadBuffer, 1, named);
      case BufferFile::Kind::kRecords:
        break;
    }
    if (header.base > trace.size) {
      return summary_.add(Finding::kBadBuffer, 1, [&] {
        return buffer.path + ": the trace file is shorter than it says, a part was lost";
      });
    }
    trace.parts[0].length = header.base;
    trace.parts.push_back({files_.add(buffer.path), header.start, header.end - header.base});
    trace.size = header.end;
  }

  Result<Candidate> examine(const std::string& path) {
    Candidate result;
    LocalTrace& trace = result.trace;
    trace.path = path;
    if (Status status = place(path, trace); !status) {
      if (status.error().code == ExitCode::kOutputFailed) return status.error();
      result.error = status.error();
      return result;
    }
    std::vector<std::byte> bytes(kFirstRecords);
    std::size_t got = 0;
    if (Status status = read_trace(files_, trace, 0, bytes.data(), bytes.size(), got); !status) {
      result.error = status.error();
      return result;
    }
    auto reader = TraceReader::from(memory_source(bytes.data(), got), path, kFirstRecords);
    if (!reader) {
      result.error = reader.error();
      result.fatal = got >= kHeaderSize && std::memcmp(bytes.data(), "EPILOG", 7) == 0;
      return result;
    }
    trace.dialect = reader->dialect();
    if (!trace.dialect.native()) {
      result.kind = Candidate::Kind::kClassic;
      result.error = bad(path, "is a trace of the classic tools, not a local trace of kojak",
                         "merge local archives of the classic tools with their own elg_merge; "
                         "their merged traces need no merging");
      return result;
    }
    RawRecord record;
    LocalRun run;
    const bool any = reader->next(record) == TraceReader::Next::kRecord;
    if (!any || record.type != static_cast<std::uint8_t>(RecordType::kLocalRun) ||
        decode(record, trace.dialect, run) != nullptr) {
      result.kind = any ? Candidate::Kind::kMerged : Candidate::Kind::kOther;
      result.error = any ? bad(path, "is no local trace (it is merged already?)", kGiveLocal)
                         : bad(path, "the file ends before its first record",
                               "remove it: the process wrote nothing");
      return result;
    }
    take_run(run, trace);
    LocalPart part;
    if (reader->next(record) == TraceReader::Next::kRecord &&
        record.type == static_cast<std::uint8_t>(RecordType::kLocalPart) &&
        decode(record, trace.dialect, part) == nullptr) {
      trace.part = raw(part.bytes);
    }
    if (trace.run_size > kMaxProcesses || trace.rank >= trace.run_size) {
      result.error = bad(path,
                         "says that it is rank " + std::to_string(trace.rank) + " of " +
                             std::to_string(trace.run_size),
                         "the file is damaged; leave it out");
      return result;
    }
    result.kind = Candidate::Kind::kLocal;
    return result;
  }

  static void take_run(const LocalRun& run, LocalTrace& trace) {
    trace.run_hi = raw(run.run_hi);
    trace.run_lo = raw(run.run_lo);
    trace.run_size = raw(run.size);
    trace.rank = raw(run.pid);
    trace.thread = raw(run.tid);
  }

  // Threads that recorded little share a file: each of its parts is a trace, behind the header of
  // the first.
  void add_parts(LocalTrace&& whole) {
    std::uint64_t at = kHeaderSize, length = whole.part;
    if (length == 0 || at + length >= whole.size) return found_.push_back(std::move(whole));
    found_.push_back(part_of(whole, at, length));
    std::vector<std::byte> head(kHeaderSize + 256);
    while (at += length, at < whole.size) {
      LocalTrace part = part_of(whole, at, whole.size - at);
      std::size_t got = 0;
      RawRecord record;
      LocalRun run;
      LocalPart told;
      const auto next = [&](TraceReader& reader, auto& to) {
        return reader.next(record) == TraceReader::Next::kRecord &&
               record.type == static_cast<std::uint8_t>(std::decay_t<decltype(to)>::kType) &&
               decode(record, part.dialect, to) == nullptr;
      };
      const Status status = read_trace(files_, part, 0, head.data(), head.size(), got);
      auto reader = TraceReader::from(memory_source(head.data(), got), part.path, kFirstRecords);
      if (!status || !reader || !next(*reader, run) || !next(*reader, told)) {
        // What cannot be read of it is said when all of it is read.
        LocalTrace& last = found_.back();
        last = part_of(whole, at - length, whole.size - (at - length));
        return;
      }
      take_run(run, part);
      length = raw(told.bytes) == 0 ? whole.size - at : raw(told.bytes);
      if (at + length < whole.size) cut(part, kHeaderSize + length);
      found_.push_back(std::move(part));
    }
  }
  // The header of the whole, and these bytes.
  static LocalTrace part_of(const LocalTrace& whole, std::uint64_t at, std::uint64_t length) {
    LocalTrace part = whole;
    part.parts.clear();
    part.size = 0;
    const auto add = [&](std::uint64_t from, std::uint64_t bytes) {
      std::uint64_t begin = 0;
      for (const LocalTrace::Part& piece : whole.parts) {
        const std::uint64_t first = std::max(from, begin);
        const std::uint64_t last = std::min(from + bytes, begin + piece.length);
        if (first < last) {
          part.parts.push_back({piece.file, piece.offset + (first - begin), last - first});
          part.size += last - first;
        }
        begin += piece.length;
      }
    };
    add(0, kHeaderSize);
    add(at, length);
    return part;
  }
  static void cut(LocalTrace& trace, std::uint64_t size) {
    std::uint64_t left = size;
    for (LocalTrace::Part& piece : trace.parts) {
      piece.length = std::min(piece.length, left);
      left -= piece.length;
    }
    trace.size = size;
  }

  // All files are of one run; the few that are not are named.
  Status check_runs() const {
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, std::size_t> runs;
    const auto run_of = [](const LocalTrace& t) {
      return std::tuple(t.run_hi, t.run_lo, t.run_size);
    };
    for (const LocalTrace& trace : found_) ++runs[run_of(trace)];
    if (runs.size() <= 1) return {};
    auto most = runs.begin();
    for (auto it = runs.begin(); it != runs.end(); ++it) {
      if (it->second > most->second) most = it;
    }
    const LocalTrace* member = nullptr;
    std::string strangers;
    const LocalTrace* first = nullptr;
    std::size_t listed = 0;
    for (const LocalTrace& trace : found_) {
      if (run_of(trace) == most->first) {
        if (member == nullptr) member = &trace;
      } else if (first == nullptr) {
        first = &trace;
      } else if (++listed <= 8) {
        strangers += ", " + trace.path;
      }
    }
    if (listed > 8) strangers += " and " + std::to_string(listed - 8) + " more";
    return bad(first->path,
               "belongs to another run than " + member->path +
                   (strangers.empty() ? "" : "; so do" + strangers.substr(1)),
               "merge the files of one run only");
  }

  Status drop_duplicates() {
    std::vector<LocalTrace> unique;
    for (LocalTrace& trace : found_) {
      if (!unique.empty() && unique.back().rank == trace.rank &&
          unique.back().thread == trace.thread) {
        LocalTrace& before = unique.back();
        const bool same =
            before.inode == trace.inode && before.device == trace.device && trace.inode != 0;
        // The process was killed when its thread's records had just come into the shared file, and
        // were also where they had been before.
        if (!same && (before.part != 0) != (trace.part != 0) && before.run_hi == trace.run_hi &&
            before.run_lo == trace.run_lo) {
          if (before.part == 0) before = std::move(trace);
          continue;
        }
        if (!same) {
          return bad(trace.path, "is a trace of the same process and thread as " + before.path,
                     "give one of them");
        }
        summary_.add(Finding::kTwiceGiven, 1, [&] { return trace.path; });
        continue;
      }
      unique.push_back(std::move(trace));
    }
    found_ = std::move(unique);
    return {};
  }

  FileCache& files_;
  Summary& summary_;
  std::vector<LocalTrace> found_;
};

}  // namespace

Result<std::vector<LocalTrace>> find_local_traces(const std::vector<std::string>& arguments,
                                                  FileCache& files, Summary& summary) {
  Finder finder(files, summary);
  for (const std::string& argument : arguments) {
    if (Status status = finder.add_argument(argument); !status) return status.error();
  }
  return finder.finish();
}

}  // namespace kojak::merge
