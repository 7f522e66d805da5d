#include "expert/profile/unite_twins.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "epilog/format/openmp_constructs.h"
#include "epilog/format/text/xml_text.h"
#include "expert/metrics/time_class.h"

namespace kojak::expert {
namespace {

// What CUBE tells the kinds of functions by; of the program's own, the file.
std::string module_of(const RegionDef& region) {
  if (region.function != nullptr || region.name.starts_with("MPI_")) return "MPI";
  if (region.is_tracing() || region.is_pausing()) return "EPIK";  // the measurement itself
  if (is_omp(region.type) || region_class(region) == TimeClass::kOmpLockApi) return "OMP";
  if (const auto known = shmem_class(region.name)) return std::string(name_of(*model_of(*known)));
  return region.file;
}

class Twins {
 public:
  Twins(CallForest& forest, const Definitions& definitions,
        const std::function<std::string(RegionId)>& name_of)
      : f_(forest), definitions_(definitions), name_of_(name_of) {}

  void unite() {
    unite_list(f_.roots);
    std::vector<std::size_t> stack = f_.roots;
    while (!stack.empty()) {
      const std::size_t parent = stack.back();
      stack.pop_back();
      unite_list(f_.children[parent]);
      stack.insert(stack.end(), f_.children[parent].begin(), f_.children[parent].end());
    }
  }

 private:
  struct Region {
    std::size_t number;
    bool known;  // where it stands in the program
  };
  using Place = std::pair<std::size_t, std::uint32_t>;  // file and line; kNoPlace: not known
  static constexpr Place kNoPlace{kNone, 0};

  Region region_of(std::size_t path) {
    const RegionId id = f_.paths[path].region;
    const auto [known, fresh] = regions_.try_emplace(id);
    if (fresh) {
      const RegionIdentity identity = identity_of(definitions_, id, name_of_(id));
      const std::size_t next = identities_.size();
      const std::size_t number = identities_.try_emplace(identity, next).first->second;
      known->second = {number, !is_absent(identity.begin)};
    }
    return known->second;
  }
  Place place_of(std::size_t path) {
    const CallSiteId id = f_.paths[path].site;
    const CallSiteDef* site = is_absent(id) ? nullptr : definitions_.call_sites.find(id);
    if (site == nullptr || is_absent(site->line)) return kNoPlace;
    const std::string* file = definitions_.files.find(site->file);
    const std::size_t next = files_.size();
    const auto known = files_.try_emplace(file != nullptr ? *file : std::string(), next).first;
    return {known->second, raw(site->line)};
  }

  // Both at the place of one of them, which is returned: one that has rows, if there is one.
  std::size_t join(std::size_t first, std::size_t second) {
    const bool keep_first = first < f_.recorded || second >= f_.recorded;
    const std::size_t kept = keep_first ? first : second, gone = keep_first ? second : first;
    if (place_of(kept) == kNoPlace && !is_absent(f_.paths[gone].site)) {
      f_.paths[kept].site = f_.paths[gone].site;
    }
    f_.place[gone] = kept;
    f_.named[kept] = f_.named[kept] || f_.named[gone];
    std::vector<std::size_t> moved = std::move(f_.children[gone]);
    f_.children[gone].clear();
    for (const std::size_t child : moved) f_.paths[child].parent = kept;
    std::vector<std::size_t>& children = f_.children[kept];
    children.insert(keep_first ? children.end() : children.begin(), moved.begin(), moved.end());
    return kept;
  }

  void unite_list(std::vector<std::size_t>& list) {
    if (list.size() < 2) return;
    const std::vector<std::size_t> before = std::move(list);
    list.clear();
    std::map<std::tuple<std::size_t, Place>, std::size_t> seen;  // and where in the list
    for (const std::size_t path : before) {
      const auto [known, fresh] =
          seen.try_emplace({region_of(path).number, place_of(path)}, list.size());
      if (fresh) {
        list.push_back(path);
      } else {
        list[known->second] = join(list[known->second], path);
      }
    }
    // Of each region the one without a line comes last.
    for (auto at = seen.begin(); at != seen.end();) {
      const std::size_t number = std::get<0>(at->first);
      std::vector<std::size_t> places;
      bool without = false;
      for (; at != seen.end() && std::get<0>(at->first) == number; ++at) {
        places.push_back(at->second);
        without = std::get<1>(at->first) == kNoPlace;
      }
      if (!without || places.size() < 2 || !region_of(list[places.front()]).known) continue;
      const bool one_line = places.size() == 2;
      std::sort(places.begin(), places.end());
      std::size_t& kept = list[places.front()];
      for (std::size_t i = 1; i < places.size(); ++i) {
        kept = join(kept, std::exchange(list[places[i]], kNone));
      }
      if (!one_line) f_.paths[kept].site = absent<CallSiteId>();
    }
    std::erase(list, kNone);
  }

  CallForest& f_;
  const Definitions& definitions_;
  const std::function<std::string(RegionId)>& name_of_;
  std::map<RegionId, Region> regions_;
  std::map<RegionIdentity, std::size_t> identities_;
  std::map<std::string, std::size_t> files_;
};

}  // namespace

RegionIdentity identity_of(const Definitions& definitions, RegionId region,
                           const std::string& name) {
  RegionIdentity identity{xml_text(name), "", absent<Line>(), absent<Line>()};
  if (const RegionDef* def = definitions.regions.find(region)) {
    identity.module = xml_text(module_of(*def));
    identity.begin = def->begin;
    identity.end = def->end;
  }
  return identity;
}

void unite_twins(CallForest& forest, const Definitions& definitions,
                 const std::function<std::string(RegionId)>& name_of) {
  Twins(forest, definitions, name_of).unite();
}

}  // namespace kojak::expert
