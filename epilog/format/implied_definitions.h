// The definitions that a text trace uses without giving them.
//
// The text reader first shows it every line (scan), then asks for the identifiers of names while it
// encodes (string, file, region, group ...), and finally has it write what was missing: before the
// text's own definitions what those may refer to, after them the rest. Owned and used by one
// reader.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "epilog/format/record/codec.h"
#include "epilog/format/text/text_lines.h"

namespace kojak::text {

class ImpliedDefinitions {
 public:
  ImpliedDefinitions(const Dialect& dialect, bool local) : dialect_(dialect), local_(local) {}

  // Notes the definitions of a line and the names that they give.
  void scan(const TextLine& line);

  // Identifiers of names; made when new.
  std::uint32_t string(const std::string& text);
  std::uint32_t file(const std::string& name);
  std::uint32_t region(const std::string& name);
  std::uint32_t call_site(const std::string& file, std::uint32_t line, std::uint32_t entered,
                          std::uint32_t left);
  std::uint32_t group(const std::vector<std::uint32_t>& ranks);
  // A communicator object for a group.
  std::uint32_t comm(const std::vector<std::uint32_t>& ranks);

  // Notes that an event names these; `node` is given with the event.
  void use_location(std::uint32_t lid) { used_locations_.insert(lid); }
  void use_peer(std::uint32_t rank) { used_peers_.insert(rank); }
  void use_comm(std::uint32_t cid) { used_comms_.insert(cid); }
  void use_window(std::uint32_t wid) { used_windows_.insert(wid); }
  void place(std::uint32_t lid, std::uint32_t node) { node_of_[lid] = node; }
  // Processes of the run, where the text says it (LOCAL_RUN).
  void set_size(std::uint32_t size) { size_ = size; }
  // How many the text tells of. More than the most are a slip of the pen, for which nobody wants
  // gigabytes of definitions.
  std::uint32_t processes() const;
  static constexpr std::uint32_t kMostProcesses = 1u << 22;

  using Sink = std::function<void(const std::byte*, std::size_t)>;
  // Strings, the machine, files and regions: before everything.
  void write_names(const Sink& sink);
  // Nodes, locations, groups and communicators: behind the text's own machines to
  // locations.
  void write_places(const Sink& sink);
  // Call sites and windows: behind all definitions of the text.
  void write_last(const Sink& sink);

 private:
  struct Kind {  // identifiers of one kind of definition
    std::set<std::uint32_t> given;
    std::uint32_t next = 0;  // above all given ones
    void give(std::uint32_t id);
    bool has(std::uint32_t id) const { return given.count(id) != 0; }
    std::uint32_t fresh() { return next++; }
  };
  template <class R>
  void put(const Sink& sink, const R& record);
  void put_groups(const Sink& sink);
  void find_missing_places();
  std::uint32_t node_of(std::uint32_t lid) const;

  Dialect dialect_;
  bool local_;
  Kind strings_, machines_, nodes_, locations_, files_, regions_, call_sites_, comms_, groups_,
      windows_;
  std::map<std::uint32_t, std::string> given_strings_, given_files_;
  std::map<std::string, std::uint32_t> string_ids_, file_ids_, region_ids_;
  std::map<std::string, std::uint32_t> new_strings_, new_files_, new_regions_;
  std::vector<CallSite> new_sites_;
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> new_site_ids_;  // by their fields
  std::map<std::vector<std::uint32_t>, std::uint32_t> new_groups_, new_comms_;
  std::set<std::uint32_t> used_locations_, used_peers_, used_comms_, used_windows_;
  std::map<std::uint32_t, std::uint32_t> node_of_;
  std::set<std::uint32_t> given_processes_;  // of the text's own locations
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> missing_locations_;
  std::set<std::uint32_t> missing_nodes_;
  bool missing_machine_ = false;
};

}  // namespace kojak::text
