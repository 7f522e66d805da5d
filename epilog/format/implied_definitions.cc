#include "epilog/format/implied_definitions.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "epilog/format/field_values.h"
#include "epilog/format/mpi_functions.h"
#include "epilog/format/record/continuation.h"

namespace kojak::text {
namespace {

// The number of a word, if it is one.
bool number(const Value* value, std::uint32_t& out) {
  if (value == nullptr || value->kind != Value::Kind::kWord || value->text.empty()) return false;
  std::uint64_t n = 0;
  for (const char c : value->text) {
    if (c < '0' || c > '9' || n > kAbsent) return false;
    n = n * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (n >= kAbsent) return false;
  out = static_cast<std::uint32_t>(n);
  return true;
}

// Identities of objects made from numbers alone: equal in all local texts of one case.
constexpr std::uint64_t kCommIdentity = 0x636F6D6DULL, kWinIdentity = 0x77696EULL;

}  // namespace

void ImpliedDefinitions::Kind::give(std::uint32_t id) {
  given.insert(id);
  next = std::max(next, id + 1);
}

void ImpliedDefinitions::scan(const TextLine& line) {
  const auto give = [&](const char* key, Kind& kind) {
    std::uint32_t id = 0;
    if (number(line.find(key), id)) kind.give(id);
    return id;
  };
  // A string given in place, or the text of a STRING seen before.
  const auto text_of = [&](const char* key, const std::map<std::uint32_t, std::string>& known) {
    const Value* value = line.find(key);
    std::uint32_t id = 0;
    if (value != nullptr && value->kind == Value::Kind::kString) return value->text;
    const auto it = number(value, id) ? known.find(id) : known.end();
    return it == known.end() ? std::string() : it->second;
  };
  if (line.name == String::kName) {
    const std::uint32_t id = give("strid", strings_);
    if (const Value* str = line.find("str")) {
      given_strings_[id] = str->text;
      string_ids_.emplace(str->text, id);
    }
  } else if (line.name == Machine::kName) {
    give("mid", machines_);
  } else if (line.name == Node::kName) {
    give("nid", nodes_);
  } else if (line.name == Location::kName) {
    const std::uint32_t lid = give("lid", locations_);
    std::uint32_t pid = lid;
    number(line.find("pid"), pid);
    given_processes_.insert(pid);
    std::uint32_t nid = 0;
    number(line.find("nid"), nid);
    node_of_[lid] = nid;
  } else if (line.name == File::kName) {
    file_ids_.emplace(text_of("fnid", given_strings_), give("fid", files_));
  } else if (line.name == Region::kName) {
    region_ids_.emplace(text_of("rnid", given_strings_), give("rid", regions_));
  } else if (line.name == CallSite::kName) {
    give("csid", call_sites_);
  } else if (line.name == MpiComm::kName || line.name == MpiCommRef::kName) {
    give("cid", comms_);
  } else if (line.name == MpiGroup::kName) {
    give("gid", groups_);
  } else if (line.name == MpiWin::kName) {
    give("wid", windows_);
  } else {
    // Numbers that events use: names must not be given the same ones.
    std::uint32_t id = 0;
    const auto reserve = [&](const char* key, Kind& kind) {
      if (number(line.find(key), id)) kind.next = std::max(kind.next, id + 1);
    };
    reserve("rid", regions_);
    reserve("cid", comms_);
    reserve("csid", call_sites_);
  }
  if (comms_.next == 0) comms_.next = 1;  // 0 is that of all processes
}

std::uint32_t ImpliedDefinitions::string(const std::string& text) {
  if (const auto it = string_ids_.find(text); it != string_ids_.end()) return it->second;
  return string_ids_[text] = new_strings_[text] = strings_.fresh();
}

std::uint32_t ImpliedDefinitions::file(const std::string& name) {
  if (const auto it = file_ids_.find(name); it != file_ids_.end()) return it->second;
  string(name);
  return file_ids_[name] = new_files_[name] = files_.fresh();
}

std::uint32_t ImpliedDefinitions::region(const std::string& name) {
  if (const auto it = region_ids_.find(name); it != region_ids_.end()) return it->second;
  string(name);
  if (find_mpi_function(name) != nullptr) file("MPI");
  return region_ids_[name] = new_regions_[name] = regions_.fresh();
}

std::uint32_t ImpliedDefinitions::call_site(const std::string& file_name, std::uint32_t line,
                                            std::uint32_t entered, std::uint32_t left) {
  const auto fid = static_cast<FileId>(file(file_name));
  const auto [it, made] = new_site_ids_.try_emplace({raw(fid), line, entered, left}, 0);
  if (!made) return it->second;
  const std::uint32_t id = it->second = call_sites_.fresh();
  new_sites_.push_back({static_cast<CallSiteId>(id), fid, static_cast<Line>(line),
                        static_cast<RegionId>(entered), static_cast<RegionId>(left)});
  return id;
}

std::uint32_t ImpliedDefinitions::group(const std::vector<std::uint32_t>& ranks) {
  const auto [it, made] = new_groups_.try_emplace(ranks, 0);
  if (made) it->second = groups_.fresh();
  return it->second;
}

std::uint32_t ImpliedDefinitions::comm(const std::vector<std::uint32_t>& ranks) {
  const auto [it, made] = new_comms_.try_emplace(ranks, 0);
  if (made) it->second = comms_.fresh();
  if (dialect_.native()) group(ranks);
  used_peers_.insert(ranks.begin(), ranks.end());
  return it->second;
}

std::uint32_t ImpliedDefinitions::processes() const {
  if (size_ != 0) return size_;
  std::uint32_t size = 0;
  const auto cover = [&](const std::set<std::uint32_t>& ranks) {
    if (!ranks.empty()) size = std::max(size, *ranks.rbegin() + 1);
  };
  cover(given_processes_);
  cover(used_peers_);
  for (const std::uint32_t lid : used_locations_) {  // those that LOCATION gives may be threads
    if (!locations_.has(lid)) size = std::max(size, lid + 1);
  }
  return size;
}

template <class R>
void ImpliedDefinitions::put(const Sink& sink, const R& record) {
  std::byte buffer[kMaxRecord];
  if (const std::size_t size = encode(record, dialect_, buffer); size != 0) sink(buffer, size);
}

std::uint32_t ImpliedDefinitions::node_of(std::uint32_t lid) const {
  const auto it = node_of_.find(lid);
  return it == node_of_.end() ? 0 : it->second;
}

void ImpliedDefinitions::find_missing_places() {
  const std::uint32_t size = processes();
  // The ranks have no gaps, except where locations were given by the text. Sorted, for there may be
  // millions of them.
  std::vector<std::uint32_t> ranks;
  if (!local_ && locations_.given.empty()) {
    ranks.resize(size);
    std::iota(ranks.begin(), ranks.end(), 0u);
  } else if (!local_) {
    ranks.assign(used_peers_.begin(), used_peers_.end());
  }
  std::vector<std::uint32_t>& missing = missing_locations_;
  std::set_union(ranks.begin(), ranks.end(), used_locations_.begin(), used_locations_.end(),
                 std::back_inserter(missing));
  for (const std::uint32_t lid : missing) missing_nodes_.insert(node_of(lid));
  for (const std::uint32_t lid : locations_.given) missing_nodes_.insert(node_of(lid));
  std::erase_if(missing, [&](std::uint32_t lid) { return locations_.has(lid); });
  std::erase_if(missing_nodes_, [&](std::uint32_t nid) { return nodes_.has(nid); });
  missing_machine_ = machines_.given.empty() &&
                     !(missing_nodes_.empty() && missing.empty() && nodes_.given.empty());
  if (missing_machine_) string("machine");
  for (const std::uint32_t nid : missing_nodes_) string("node" + std::to_string(nid));
}

void ImpliedDefinitions::write_names(const Sink& sink) {
  find_missing_places();                       // their names are strings
  std::map<std::uint32_t, std::string> by_id;  // in the order in which the text used them
  for (const auto& [text, id] : new_strings_) by_id[id] = text;
  for (const auto& [id, text] : by_id) {
    emit_string(static_cast<StringId>(id), text, [&](const auto& record) { put(sink, record); });
  }
  if (missing_machine_) {
    const std::size_t nodes = nodes_.given.size() + missing_nodes_.size();
    put(sink,
        Machine{MachineId{0}, static_cast<Count>(nodes), static_cast<StringId>(string("machine"))});
  }
  by_id.clear();
  for (const auto& [name, id] : new_files_) by_id[id] = name;
  for (const auto& [id, name] : by_id) {
    put(sink, File{static_cast<FileId>(id), static_cast<StringId>(string(name))});
  }
  by_id.clear();
  for (const auto& [name, id] : new_regions_) by_id[id] = name;
  for (const auto& [id, name] : by_id) {
    const MpiFunction* function = find_mpi_function(name);
    Region region{static_cast<RegionId>(id),
                  static_cast<StringId>(string(name)),
                  absent<FileId>(),
                  absent<Line>(),
                  absent<Line>(),
                  absent<StringId>(),
                  Byte{1}};
    if (function != nullptr) {
      region.fid = static_cast<FileId>(file("MPI"));
      region.rtype = static_cast<Byte>(function->region_type);
    } else if (name == "TRACING" || name == "PAUSING") {
      region.rtype = Byte{0};
    }
    put(sink, region);
  }
}

void ImpliedDefinitions::write_places(const Sink& sink) {
  const MachineId machine =
      machines_.given.empty() ? MachineId{0} : static_cast<MachineId>(*machines_.given.begin());
  for (const std::uint32_t nid : missing_nodes_) {
    const std::uint32_t name = string("node" + std::to_string(nid));
    put(sink,
        Node{static_cast<NodeId>(nid), machine, Count{1}, static_cast<StringId>(name), Seconds{0}});
  }
  for (const std::uint32_t lid : missing_locations_) {
    put(sink, Location{static_cast<LocationId>(lid), machine, static_cast<NodeId>(node_of(lid)),
                       static_cast<ProcessId>(lid), ThreadId{0}});
  }
  put_groups(sink);
}

void ImpliedDefinitions::put_groups(const Sink& sink) {
  const auto emit = [&](const auto& record) { put(sink, record); };
  const bool world = used_comms_.count(0) + used_windows_.size() > 0 && !comms_.has(0);
  const std::uint32_t size = processes();
  const auto bits_of = [&](const std::vector<std::uint32_t>& ranks) {
    std::vector<std::uint8_t> bits((size + 7) / 8);
    for (const std::uint32_t rank : ranks)
      bits[rank / 8] = static_cast<std::uint8_t>(bits[rank / 8] | 1u << rank % 8);
    return bits;
  };
  std::vector<std::uint32_t> all(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) all[rank] = rank;
  if (!dialect_.native()) {
    if (world) {
      const std::vector<std::uint8_t> bits = bits_of(all);
      emit_comm_bits(CommId{0}, 0, bits.data(), bits.size(), emit);
    }
    for (const auto& [ranks, cid] : new_comms_) {
      const std::vector<std::uint8_t> bits = bits_of(ranks);
      emit_comm_bits(static_cast<CommId>(cid), 1, bits.data(), bits.size(), emit);
    }
    return;
  }
  if (world) {
    const auto gid = static_cast<GroupId>(groups_.fresh());
    emit_group(gid, 1, all.data(), all.size(), emit);
    put(sink, MpiCommRef{CommId{0}, gid});
    if (local_) put(sink, CommIdentity{CommId{0}, Hash64{kCommIdentity}, Hash64{0}, Flags{0}});
  }
  for (const auto& [ranks, gid] : new_groups_) {
    emit_group(static_cast<GroupId>(gid), 0, ranks.data(), ranks.size(), emit);
  }
  for (const auto& [ranks, cid] : new_comms_) {
    put(sink, MpiCommRef{static_cast<CommId>(cid), static_cast<GroupId>(new_groups_.at(ranks))});
    put(sink, CommIdentity{static_cast<CommId>(cid), Hash64{0}, Hash64{0}, Flags{kStandsForGroup}});
  }
}

void ImpliedDefinitions::write_last(const Sink& sink) {
  for (const CallSite& site : new_sites_) put(sink, site);
  for (const std::uint32_t wid : used_windows_) {
    if (windows_.has(wid)) continue;
    put(sink, MpiWin{static_cast<WindowId>(wid), CommId{0}});
    if (local_) {
      put(sink, WinIdentity{static_cast<WindowId>(wid), Hash64{kWinIdentity}, Hash64{wid}, Flags{0},
                            Byte{kFlavourCreated}, Byte{0}});
    }
  }
}

}  // namespace kojak::text
