// Shows the local traces of a run as the tests compare them: one line a call, with what it did.
//
//   local_events DIR          per file: `file NAME`, then `REGION [what ...]` for each region
//   entered and
//                             left, indented by depth, in order of the exits
//   local_events --objects DIR    communicators and windows with members and identity
//   local_events --clocks DIR     nodes with their error bound, offsets with the time they were
//   measured
// Every file is verified first; what the verification calls an error ends the program with
// status 1.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "epilog/format/check/verify.h"
#include "epilog/format/definitions.h"
#include "epilog/format/io/local_buffer.h"

namespace {

using namespace kojak;

struct Open {
  std::string region;
  std::string what;
};

class Listing {
 public:
  explicit Listing(const std::string& option)
      : events_(option.empty()), objects_(option == "--objects"), clocks_(option == "--clocks") {}

  Status read(const std::string& path) {
    auto source = open_local_source(path);
    if (!source) return source.error();
    auto reader = TraceReader::from(std::move(*source), path);
    if (!reader) return reader.error();
    RawRecord record;
    TraceReader::Next next;
    while ((next = reader->next(record)) == TraceReader::Next::kRecord) {
      if (is_definition(record.type)) {
        if (LocalRun run; record.type == static_cast<std::uint8_t>(RecordType::kLocalRun) &&
                          definitions_.local_run &&
                          decode(record, reader->dialect(), run) == nullptr) {
          end();  // another thread's part of the file
          std::printf("file %u.%u.elg\n", raw(run.pid), raw(run.tid));
          open_.clear();
          attributes_.clear();
        }
        if (Status status = definitions_.add(record, reader->dialect()); !status) return status;
      } else {
        dispatch_record(record.type, [&]<class R>() {
          R decoded;
          if (decode(record, reader->dialect(), decoded) == nullptr) show(decoded);
        });
      }
    }
    if (next == TraceReader::Next::kDamaged) return reader->error();
    end();
    return {};
  }

 private:
  void end() {
    definitions_.finish();
    std::printf("end open=%zu lost=%zu clock_rate=%d offsets=%zu run=%016" PRIx64 " size=%u\n",
                open_.size(), definitions_.lost.size(), definitions_.clock_rate ? 1 : 0,
                definitions_.offsets.size(), raw(definitions_.local_run->run_hi),
                raw(definitions_.local_run->size));
    if (objects_) print_objects();
    if (clocks_) print_clocks();
  }

  std::string region(RegionId id) const {
    const RegionDef* found = definitions_.regions.find(id);
    return found == nullptr ? "?" : found->name;
  }
  static std::string number(std::uint32_t value) {
    return value == kAbsent ? "-" : std::to_string(value);
  }
  void add(const std::string& what) {
    if (!open_.empty()) open_.back().what += " " + what + attributes_;
    attributes_.clear();
  }
  void enter(const std::string& name) { open_.push_back({name, ""}); }
  void leave(const std::string& what = "") {
    if (open_.empty()) return;
    if (!what.empty()) add(what);
    if (events_) {
      std::printf("%*s%s%s\n", static_cast<int>(open_.size() - 1) * 2, "",
                  open_.back().region.c_str(), open_.back().what.c_str());
    }
    open_.pop_back();
  }

  template <class R>
  void show(const R& r) {
    if constexpr (std::is_same_v<R, Enter>) enter(region(r.rid));
    if constexpr (std::is_same_v<R, Exit>) leave();
    if constexpr (std::is_same_v<R, EnterTracing>) enter("TRACING");
    if constexpr (std::is_same_v<R, ExitTracing>) leave();
    if constexpr (std::is_same_v<R, LogOff>) enter("PAUSING");
    if constexpr (std::is_same_v<R, LogOn>) leave();
    if constexpr (std::is_same_v<R, MpiCall>) enter(region(r.rid)), leave();
    if constexpr (std::is_same_v<R, MpiTestCall>) {
      enter(region(r.rid));
      leave("tested");
    }
    if constexpr (std::is_same_v<R, MpiPollCall>) {
      enter(region(r.rid));
      leave("polls:" + std::to_string(raw(r.count)));
    }
    if constexpr (std::is_same_v<R, MpiRmaCall>) {
      static const char* const kKinds[] = {"?", "put", "get", "getput"};
      enter(region(r.rid));
      leave(std::string(kKinds[raw(r.kind) & 3]) + ":" + number(raw(r.dlid)) + ":" +
            std::to_string(raw(r.bytes)) +
            (raw(r.got) != 0 ? ":" + std::to_string(raw(r.got)) : ""));
    }
    if constexpr (std::is_same_v<R, ShmemRmaCall>) {
      static const char* const kKinds[] = {"?", "put", "get", "getput"};
      enter(region(r.rid));
      leave(std::string(kKinds[raw(r.kind) & 3]) + ":" + number(raw(r.dlid)) + ":" +
            std::to_string(raw(r.bytes)));
    }
    if constexpr (std::is_same_v<R, Put1ts> || std::is_same_v<R, Get1tsRemote>) {
      add((std::is_same_v<R, Put1ts> ? "put:" : "get:") + number(raw(r.dlid)) + ":" +
          number(raw(r.sent)));
    }
    if constexpr (std::is_same_v<R, ShmemQuiet>) add("quiet:" + number(raw(r.ctx)));
    if constexpr (std::is_same_v<R, ALock>) add("lock");
    if constexpr (std::is_same_v<R, RLock>) add("unlock");
    if constexpr (std::is_same_v<R, CollExit>) {
      leave("coll:" + number(raw(r.rlid)) + ":" + number(raw(r.sent)) + ":" + number(raw(r.recvd)));
    }
    if constexpr (std::is_same_v<R, AttrUi4>)
      attributes_ += "#";  // a request id; its value is counted below
    if constexpr (std::is_same_v<R, AttrUi8>) attributes_ += "=" + std::to_string(raw(r.value));
    if constexpr (std::is_same_v<R, MpiSend>) {
      add("send:" + number(raw(r.dlid)) + ":" + number(raw(r.tag)) + ":" + number(raw(r.sent)));
    }
    if constexpr (std::is_same_v<R, MpiRecv>) {
      add("recv:" + number(raw(r.slid)) + ":" + number(raw(r.tag)) + ":" + number(raw(r.recvd)));
    }
    if constexpr (std::is_same_v<R, MpiRecvRequest>)
      add("posted:" + number(raw(r.slid)) + ":" + number(raw(r.tag)));
    if constexpr (std::is_same_v<R, MpiError>) add("error:" + std::to_string(raw(r.error_class)));
    if constexpr (std::is_same_v<R, MpiSendComplete>) add("sent");
    if constexpr (std::is_same_v<R, MpiRequestTested>) add("tested");
    if constexpr (std::is_same_v<R, MpiCancelled>) add("cancelled");
    if constexpr (std::is_same_v<R, MpiRequestFreed>) add("freed");
    if constexpr (std::is_same_v<R, MpiRmaComplete>) add("rma_complete:" + number(raw(r.rmaid)));
    if constexpr (std::is_same_v<R, MpiRequestComplete>)
      add("complete:" + std::to_string(raw(r.kind)));
    if constexpr (std::is_same_v<R, MpiPartBegin>) {
      add("part:" + std::to_string(raw(r.side)) + ":" + number(raw(r.plid)) + ":" +
          number(raw(r.tag)) + ":" + number(raw(r.partitions)) + ":" +
          std::to_string(raw(r.channel)) + ":" + std::to_string(raw(r.start)) + ":" +
          std::to_string(raw(r.bytes)));
    }
    if constexpr (std::is_same_v<R, MpiPartReady>)
      add("ready:" + number(raw(r.first)) + ":" + number(raw(r.last)));
    if constexpr (std::is_same_v<R, MpiPartArrived>) add("arrived:" + number(raw(r.part)));
    if constexpr (std::is_same_v<R, MpiPartEnd>) add("part_end");
    if constexpr (std::is_same_v<R, MpiAssert>) add("assert:" + number(raw(r.assertion)));
    if constexpr (std::is_same_v<R, MpiCollExit>) {
      leave("coll:" + number(raw(r.rlid)) + ":" + number(raw(r.sent)) + ":" + number(raw(r.recvd)));
    }
    if constexpr (std::is_same_v<R, MpiWinCollExit>) leave("win:" + number(raw(r.wid)));
    if constexpr (std::is_same_v<R, MpiWinExit>) {
      leave("group:" + std::to_string(raw(r.synex)) + ":" + members(r.cid));
    }
    if constexpr (std::is_same_v<R, MpiWinLock>) {
      add("lock:" + number(raw(r.llid)) + ":" + std::to_string(raw(r.ltype)));
    }
    if constexpr (std::is_same_v<R, MpiWinUnlock>) add("unlock:" + number(raw(r.llid)));
    if constexpr (std::is_same_v<R, MpiWinLockAll>) add("lock_all");
    if constexpr (std::is_same_v<R, MpiWinUnlockAll>) add("unlock_all");
    if constexpr (std::is_same_v<R, MpiWinFlush>) {
      add("flush:" + number(raw(r.tlid)) + ":" + std::to_string(raw(r.local)));
    }
    if constexpr (std::is_same_v<R, MpiOtherWorld>) {
      add("other:" + std::to_string(raw(r.kind)) + ":" + number(raw(r.target)) + ":" +
          std::to_string(raw(r.bytes)) + ":" + std::to_string(raw(r.got)));
    }
    if constexpr (std::is_same_v<R, MpiWinSync>) add("sync");
    if constexpr (std::is_same_v<R, WinState>) {
      state("win_state:" + std::to_string(raw(r.fences)) + ":" + std::to_string(raw(r.open)));
    }
    if constexpr (std::is_same_v<R, EpochState>) {
      state("epochs:" + number(raw(r.plid)) + ":" + std::to_string(raw(r.access)) + ":" +
            std::to_string(raw(r.exposure)) + ":" + std::to_string(raw(r.ops)) + ":" +
            std::to_string(raw(r.open)));
    }
    if constexpr (std::is_same_v<R, RequestState>) show_open(r);
    if constexpr (std::is_same_v<R, CollState>)
      state("collectives:" + std::to_string(raw(r.count)));
    if constexpr (std::is_same_v<R, MsgState>) {
      state("messages:" + number(raw(r.plid)) + ":" + number(raw(r.tag)) + ":" +
            std::to_string(raw(r.sent)) + ":" + std::to_string(raw(r.recvd)));
    }
  }

  void show_open(const RequestState& r) {
    state("open:" + std::to_string(raw(r.kind)) + ":" + number(raw(r.plid)) + ":" +
          number(raw(r.tag)) + ":" + std::to_string(raw(r.flags)));
  }
  // Where the process stands: a line of its own, unless a flush writes it (TRACING is open).
  void state(const std::string& what) {
    if (!open_.empty() && open_.back().region == "TRACING") return add(what);
    if (events_) std::printf("  STATE %s\n", what.c_str());
  }
  std::string members(CommId id) const {
    const CommDef* comm = definitions_.comms.find(id);
    if (comm == nullptr) return "-";
    std::string text;
    for (const std::uint32_t rank : comm->ranks) text += (text.empty() ? "" : ",") + number(rank);
    return text;
  }
  void print_objects() const {
    definitions_.comms.for_each([&](CommId id, const CommDef& comm) {
      std::string remote;
      for (const std::uint32_t rank : comm.remote)
        remote += (remote.empty() ? "" : ",") + number(rank);
      std::printf("comm %u known=%d group=%d inter=%d foreign=%d %016" PRIx64 "%016" PRIx64
                  " [%s] [%s]\n",
                  raw(id), comm.identity_known, comm.stands_for_group, comm.intercommunicator,
                  comm.foreign_members, comm.identity_hi, comm.identity_lo, members(id).c_str(),
                  remote.c_str());
    });
    definitions_.topologies.for_each([](TopologyId id, const TopologyDef& topology) {
      std::printf("topology %u comm %u:", raw(id), raw(topology.comm));
      for (std::size_t i = 0; i < topology.size.size(); ++i) {
        std::printf(" %u%s", topology.size[i], topology.periodic[i] ? "p" : "");
      }
      for (const auto& [location, position] : topology.coords) {
        std::printf(" location %u at", raw(location));
        for (const std::uint32_t x : position) std::printf(" %u", x);
      }
      std::printf("\n");
    });
    definitions_.windows.for_each([&](WindowId id, const WindowDef& window) {
      std::printf("window %u known=%d flavour=%d model=%d %016" PRIx64 "%016" PRIx64 " [%s]\n",
                  raw(id), window.identity_known, window.flavour, window.model, window.identity_hi,
                  window.identity_lo, members(window.comm).c_str());
    });
  }

  void print_clocks() const {
    definitions_.nodes.for_each([](NodeId id, const NodeDef& node) {
      std::printf("node %u bound %.9f\n", raw(id),
                  node.clock_error ? node.clock_error->value : -1.0);
    });
    for (const OffsetDef& offset : definitions_.offsets) {
      std::printf("offset %.9f at %.9f\n", offset.offset.value, offset.local.value);
    }
    if (definitions_.clock_rate) std::printf("rate %.9f\n", definitions_.clock_rate->factor.value);
  }

  bool events_, objects_, clocks_;
  Definitions definitions_;
  std::vector<Open> open_;
  std::string attributes_;
};

bool verified(const std::string& path) {
  auto source = open_local_source(path);
  auto reader =
      source ? TraceReader::from(std::move(*source), path) : Result<TraceReader>(source.error());
  if (!reader) return std::fprintf(stderr, "%s\n", reader.error().message().c_str()), false;
  auto verification = verify_trace(*reader);
  if (!verification)
    return std::fprintf(stderr, "%s\n", verification.error().message().c_str()), false;
  bool good = true;
  for (const Finding& finding : verification->findings) {
    if (finding.level != Level::kError) continue;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), finding.message().c_str());
    good = false;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string option = argc > 2 ? argv[1] : "";
  if (argc < 2) return std::fprintf(stderr, "usage: local_events [--objects|--clocks] DIR\n"), 2;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[argc - 1])) {
    if (entry.path().extension() == ".elg") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  bool good = true;
  for (const std::string& file : files) {
    std::printf("file %s\n", std::filesystem::path(file).filename().c_str());
    good = verified(file) && good;
    Listing listing(option);
    if (Status status = listing.read(file); !status) {
      std::fprintf(stderr, "%s\n", status.error().message().c_str());
      good = false;
    }
  }
  return good ? 0 : 1;
}
