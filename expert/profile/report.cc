#include "expert/profile/report.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "epilog/format/merge_properties.h"
#include "epilog/format/openmp_constructs.h"
#include "expert/metrics/time_class.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/path.h"
#include "expert/profile/unite_twins.h"

namespace kojak::expert {
namespace {

constexpr std::uint8_t kUserRegion = 3;  // EPILOG's region type of regions begun by hand

// What a Python script does outside of functions.
bool is_script(const RegionDef& region) {
  return region.name == "<module>";
}

}  // namespace

std::string function_at(const Report& report, CallSiteId site) {
  const std::string name = report.region_name(report.definitions().call_sites.find(site)->left);
  const std::string place = site_name(report.definitions(), site);
  return place.empty() ? name : name + " (" + place + ')';
}

Report::Report(const Definitions& definitions, std::vector<LocationId> locations,
               const std::vector<ReportMetric>& metrics, const std::vector<CallPath>& call_paths,
               SeverityStore severities, std::vector<Finding> findings, WaitResults waits,
               LastCalls last_calls, std::optional<RootCauses> root_causes,
               std::map<RegionId, std::string> stretches, ProcessorUse processors,
               std::vector<CreatedTasks> tasks, std::vector<FailedCalls> failed_calls)
    : definitions_(&definitions),
      locations_(std::move(locations)),
      severities_(std::move(severities)),
      findings_(std::move(findings)),
      waits_(std::move(waits)),
      last_calls_(std::move(last_calls)),
      root_causes_(std::move(root_causes)),
      stretches_(std::move(stretches)),
      processors_(std::move(processors)),
      tasks_(std::move(tasks)),
      failed_calls_(std::move(failed_calls)) {
  add_metrics(metrics);
  order_call_paths(call_paths, metrics);
  order_system();
  note_places();
  totals_.assign(metrics_.size(), 0);
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    Amount total = 0;
    for (std::size_t c = 0; c < call_paths_.size(); ++c) {
      sum_row(m, c);
      for (const LocationIndex l : thread_locations_) total += sums_[l];
    }
    totals_[m] = severities_.value(metrics_[m].own.front(), total);
  }
}

void Report::note_places() {
  const auto note = [](std::vector<std::size_t>& places, std::uint32_t index, std::size_t at) {
    if (index >= places.size()) places.resize(index + std::size_t{1}, kNone);
    places[index] = at;
  };
  for (std::size_t c = 0; c < call_paths_.size(); ++c) {
    if (call_paths_[c].index != kOnlyNamed) note(paths_at_, call_paths_[c].index, c);
    for (const CallPathIndex index : call_paths_[c].also) note(paths_at_, index, c);
  }
  for (std::size_t t = 0; t < threads(); ++t) note(threads_at_, thread_column(t), t);
  for (std::size_t m = 0; m < metrics_.size(); ++m) note(metrics_at_, metrics_[m].own.front(), m);
}

void Report::add_metrics(const std::vector<ReportMetric>& metrics) {
  // What is not shown is counted where it belongs all the same.
  std::map<std::string_view, std::size_t> home;  // the shown node that holds a metric's values
  for (const ReportMetric& m : metrics) {
    const auto parent = home.find(m.metric.parent);
    const std::size_t above = parent == home.end() ? kNone : parent->second;
    const bool summand = m.metric.kind == Metric::Kind::kSummand;
    if (!m.shown) {
      if (summand && above != kNone) metrics_[above].own.push_back(m.index);
      home[m.metric.name] = summand ? above : kNone;
      continue;
    }
    MetricNode node;
    node.metric = m.metric;
    node.remark = m.remark;
    node.own = {m.index};
    node.parent = above;
    if (above != kNone) node.depth = metrics_[above].depth + 1;
    home[m.metric.name] = metrics_.size();
    if (above != kNone && summand) summands_[above].push_back(metrics_.size());
    metrics_.push_back(std::move(node));
    summands_.emplace_back();
  }
}

// The function that a path's call site names; absent if none is named.
RegionId Report::caller_of(const CallPath& path) const {
  const CallSiteDef* site =
      is_absent(path.site) ? nullptr : definitions_->call_sites.find(path.site);
  if (site == nullptr || definitions_->regions.find(site->left) == nullptr) {
    return absent<RegionId>();
  }
  return site->left;
}

std::vector<bool> Report::first_threads() const {
  std::vector<bool> first;
  for (const LocationId location : locations_) {
    const LocationDef* def = definitions_->locations.find(location);
    first.push_back(def == nullptr || def->thread == ThreadId{0});
  }
  return first;
}

// Whether the path stands in a construct of OpenMP that the same function begins.
bool Report::in_construct_of(const std::vector<CallPath>& call_paths, std::size_t path,
                             RegionId caller) const {
  for (std::size_t at = call_paths[path].parent; at != kNone; at = call_paths[at].parent) {
    const RegionDef* region = definitions_->regions.find(call_paths[at].region);
    if (region == nullptr || !is_omp(region->type)) return false;
    if (caller_of(call_paths[at]) == caller) return true;
  }
  return false;
}

// Moves what the threads of teams do to the parallel region of their master, where that is reached
// by one path: each path's place, which is its own if it stays. Nested ones become visible so,
// hence the repetition.
std::vector<std::size_t> Report::unite_teams(std::vector<CallPath>& call_paths,
                                             const std::vector<ReportMetric>& metrics) const {
  std::vector<std::size_t> place(call_paths.size());
  std::iota(place.begin(), place.end(), std::size_t{0});
  const auto visits = std::find_if(metrics.begin(), metrics.end(), [](const ReportMetric& metric) {
    return metric.metric.name == "visits";
  });
  if (visits == metrics.end()) return place;
  const std::vector<bool> first = first_threads();
  // Regions at the top of threads that are nobody's first.
  const auto begins_thread = [&](std::size_t i) {
    const std::size_t root = call_paths[i].parent;
    const RegionDef* region = definitions_->regions.find(call_paths[i].region);
    if (root == kNone || call_paths[root].parent != kNone || region == nullptr ||
        region->type != kOmpParallel || is_absent(call_paths[i].site)) {
      return false;
    }
    const std::span<const std::int64_t> row =
        severities_.whole_row(visits->index, static_cast<CallPathIndex>(root));
    for (std::size_t l = 0; l < row.size(); ++l) {
      if (row[l] != 0 && first[l]) return false;
    }
    return true;
  };
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < call_paths.size(); ++i) {
    if (begins_thread(i)) waiting.push_back(i);
  }
  if (waiting.empty()) return place;
  std::vector<std::vector<std::size_t>> children(call_paths.size());
  for (std::size_t i = 0; i < call_paths.size(); ++i) {
    if (call_paths[i].parent != kNone) children[call_paths[i].parent].push_back(i);
  }
  // What is computed between the same two calls is one thing, too.
  const auto same_region = [&](RegionId a, RegionId b) {
    if (a == b) return true;
    const auto one = stretches_.find(a), other = stretches_.find(b);
    return one != stretches_.end() && other != stretches_.end() && one->second == other->second;
  };
  const auto alike = [&](std::size_t a, std::size_t b) {
    return call_paths[a].site == call_paths[b].site &&
           same_region(call_paths[a].region, call_paths[b].region);
  };
  std::vector<std::pair<std::size_t, std::size_t>> moves;
  const auto move = [&](std::size_t from, std::size_t to) {
    moves.assign(1, {from, to});
    while (!moves.empty()) {
      const auto [i, there] = moves.back();
      moves.pop_back();
      place[i] = there;
      const std::vector<std::size_t> mine = std::move(children[i]);
      children[i].clear();
      for (const std::size_t child : mine) {
        const auto known = std::find_if(children[there].begin(), children[there].end(),
                                        [&](std::size_t other) { return alike(other, child); });
        if (known != children[there].end()) {
          moves.emplace_back(child, *known);
        } else {
          call_paths[child].parent = there;
          children[there].push_back(child);
        }
      }
    }
  };
  for (bool moved = true; moved;) {
    moved = false;
    std::vector<std::size_t> left;
    for (const std::size_t i : waiting) {
      std::size_t found = kNone, count = 0;
      for (std::size_t j = 0; j < call_paths.size(); ++j) {
        if (place[j] != j || !alike(i, j) ||
            std::find(waiting.begin(), waiting.end(), j) != waiting.end()) {
          continue;
        }
        found = j;
        ++count;
      }
      if (count == 1) {
        move(i, found);
        moved = true;
      } else {
        left.push_back(i);
      }
    }
    waiting = std::move(left);
  }
  return place;
}

// Which call paths a `main` encloses that is not recorded, and which: what the first threads of
// processes did right below the program, if a call of that program names its `main`. Other threads
// have functions of their own that begin them.
std::vector<RegionId> Report::main_above(const std::vector<CallPath>& call_paths,
                                         const std::vector<ReportMetric>& metrics) const {
  std::vector<RegionId> below(call_paths.size(), absent<RegionId>());
  std::vector<RegionId> mains = below;  // by root
  std::vector<bool> python(call_paths.size());
  std::vector<std::size_t> root(call_paths.size());
  for (std::size_t i = 0; i < call_paths.size(); ++i) {
    root[i] = call_paths[i].parent == kNone ? i : root[call_paths[i].parent];
    const RegionId caller = caller_of(call_paths[i]);
    const RegionDef* region = definitions_->regions.find(caller);
    if (region == nullptr) continue;
    if (region->name == "main") mains[root[i]] = caller;
    // A script is above its main.
    python[root[i]] = python[root[i]] || is_script(*region);
  }
  for (std::size_t i = 0; i < mains.size(); ++i) {
    if (python[i]) mains[i] = absent<RegionId>();
  }
  for (std::size_t i = 0; i < call_paths.size();
       ++i) {  // where it is recorded, its calls are below it
    if (call_paths[i].region == mains[root[i]]) mains[root[i]] = absent<RegionId>();
  }
  const auto visits = std::find_if(metrics.begin(), metrics.end(), [](const ReportMetric& metric) {
    return metric.metric.name == "visits";
  });
  if (visits == metrics.end()) return below;
  const std::vector<bool> first = first_threads();
  for (std::size_t i = 0; i < call_paths.size(); ++i) {
    const std::size_t parent = call_paths[i].parent;
    if (parent == kNone || call_paths[parent].parent != kNone || is_absent(mains[parent])) continue;
    const RegionDef* region = definitions_->regions.find(call_paths[i].region);
    if (region != nullptr && (region->is_tracing() || region->is_pausing())) continue;
    const std::span<const std::int64_t> row =
        severities_.whole_row(visits->index, static_cast<CallPathIndex>(i));
    below[i] = mains[parent];
    for (std::size_t l = 0; l < row.size(); ++l) {
      if (row[l] != 0 && !first[l]) below[i] = absent<RegionId>();
    }
  }
  return below;
}

void Report::order_call_paths(std::vector<CallPath> call_paths,
                              const std::vector<ReportMetric>& metrics) {
  // Callers that were not recorded come behind the recorded paths, and between them and theirs.
  const std::size_t recorded = call_paths.size();
  const std::vector<RegionId> main = main_above(call_paths, metrics);
  std::vector<std::size_t> united = unite_teams(call_paths, metrics);
  std::map<std::pair<std::size_t, RegionId>, std::size_t> named;
  std::vector<std::vector<std::size_t>> children(recorded);
  std::vector<std::size_t> roots;
  // A region of the user, or in one. (United paths may come before what encloses them.)
  const std::vector<CallPath> original = call_paths;
  const auto by_hand = [&](std::size_t i) {
    for (; i != kNone; i = original[i].parent) {
      const RegionDef* region = definitions_->regions.find(original[i].region);
      if (region != nullptr && region->type == kUserRegion) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < recorded; ++i) {
    if (united[i] != i) continue;
    const std::size_t parent = original[i].parent;
    const auto put_below = [&](RegionId caller) {
      const std::size_t above = call_paths[i].parent;
      const auto [entry, added] = named.try_emplace({above, caller}, call_paths.size());
      if (added) {
        call_paths.push_back({caller, absent<CallSiteId>(), above});
        children.emplace_back();
        children[above].push_back(entry->second);
      }
      call_paths[i].parent = entry->second;
    };
    if (!is_absent(main[i])) put_below(main[i]);
    const RegionId caller = caller_of(call_paths[i]);
    if (parent != kNone && !is_absent(caller) &&
        call_paths[call_paths[i].parent].region != caller && original[parent].region != caller &&
        !by_hand(parent) && !in_construct_of(original, i, caller)) {
      put_below(caller);
    }
    (call_paths[i].parent == kNone ? roots : children[call_paths[i].parent]).push_back(i);
  }
  const std::size_t all = call_paths.size();
  std::vector<bool> named_by_site(all);
  std::fill(named_by_site.begin() + static_cast<std::ptrdiff_t>(recorded), named_by_site.end(),
            true);
  while (united.size() < all) united.push_back(united.size());
  CallForest forest{call_paths, children, roots, recorded, named_by_site, united};
  unite_twins(forest, *definitions_, [this](RegionId region) { return region_name(region); });
  std::vector<std::size_t> stack(roots.rbegin(), roots.rend());  // next to be placed on top
  std::vector<std::size_t> place(all, kNone);
  while (!stack.empty()) {
    const std::size_t i = stack.back();
    stack.pop_back();
    const CallPath& path = call_paths[i];
    CallPathNode node{
        path.region, path.site, i < recorded ? static_cast<CallPathIndex>(i) : kOnlyNamed,
        kNone,       0,         named_by_site[i],
        {}};
    if (path.parent != kNone) {
      node.parent = place[path.parent];
      node.depth = call_paths_[node.parent].depth + 1;
    }
    const RegionDef* region = definitions_->regions.find(path.region);
    has_script_ = has_script_ || (region != nullptr && is_script(*region));
    place[i] = call_paths_.size();
    call_paths_.push_back(std::move(node));
    stack.insert(stack.end(), children[i].rbegin(), children[i].rend());
  }
  for (std::size_t i = 0; i < recorded; ++i) {
    if (united[i] == i) continue;
    std::size_t there = united[i];
    while (united[there] != there) there = united[there];
    call_paths_[place[there]].also.push_back(static_cast<CallPathIndex>(i));
  }
}

void Report::order_system() {
  using Key = std::tuple<MachineId, NodeId, ProcessId, ThreadId>;
  std::map<std::pair<Key, LocationIndex>, LocationDef> sorted;
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    const LocationDef* found = definitions_->locations.find(locations_[i]);
    LocationDef def = found != nullptr ? *found : LocationDef{};
    if (found == nullptr) def.process = static_cast<ProcessId>(raw(locations_[i]));
    sorted.emplace(std::pair{Key{def.machine, def.node, def.process, def.thread},
                             static_cast<LocationIndex>(i)},
                   def);
  }
  const auto named = [](std::string name, const char* kind, std::uint32_t number) {
    return name.empty() ? std::string(kind) + " " + std::to_string(number) : name;
  };
  const LocationDef* last = nullptr;
  bool threaded = false;
  for (const auto& [key, def] : sorted) {
    const bool new_machine = last == nullptr || last->machine != def.machine;
    const bool new_node = new_machine || last->node != def.node;
    const bool new_process = new_node || last->process != def.process;
    if (new_machine) {
      const MachineDef* machine = definitions_->machines.find(def.machine);
      machines_.push_back(
          {named(machine != nullptr ? machine->name : "", "Machine", raw(def.machine)), {}});
    }
    if (new_node) {
      const NodeDef* node = definitions_->nodes.find(def.node);
      machines_.back().nodes.push_back(
          {named(node != nullptr ? node->name : "", "Node", raw(def.node)),
           {},
           node == nullptr || node->name != kNoPlace || machines_.back().name != kNoPlace});
    }
    if (new_process) {
      const auto it = definitions_->process_names.find(def.process);
      machines_.back().nodes.back().processes.push_back(
          {named(it != definitions_->process_names.end() ? it->second : "", "Process",
                 raw(def.process)),
           raw(def.process),
           {}});
    } else {
      threaded = true;
    }
    const auto it = definitions_->thread_names.find({def.process, def.thread});
    machines_.back().nodes.back().processes.back().threads.push_back(
        {named(it != definitions_->thread_names.end() ? it->second : "", "Thread", raw(def.thread)),
         raw(def.thread), key.second});
    threads_by_location_[locations_[key.second]] = thread_locations_.size();
    thread_locations_.push_back(key.second);
    last = &def;
  }
  process_word_ = expert::process_word(*definitions_);
  for (const auto& [key, def] : sorted) {
    thread_names_.push_back(process_word_ + ' ' + std::to_string(raw(def.process)));
    if (threaded) thread_names_.back() += ", thread " + std::to_string(raw(def.thread));
  }
}

std::size_t Report::thread_of(LocationId location) const {
  const auto it = threads_by_location_.find(location);
  return it == threads_by_location_.end() ? kNone : it->second;
}

std::string Report::thread_name(std::size_t thread) const {
  return thread_names_[thread];
}

void Report::add_row(std::size_t metric, CallPathIndex call_path) const {
  for (const MetricIndex own : metrics_[metric].own) {
    severities_.add_row_to(sums_, own, call_path);
  }
  for (const std::size_t child : summands_[metric]) add_row(child, call_path);
}

void Report::sum_row(std::size_t metric, std::size_t call_path) const {
  sums_.assign(severities_.locations(), 0);
  const CallPathNode& node = call_paths_[call_path];
  if (node.index != kOnlyNamed) add_row(metric, node.index);
  for (const CallPathIndex index : node.also) add_row(metric, index);
}

bool Report::row(std::size_t metric, std::size_t call_path, std::span<double> out) const {
  sum_row(metric, call_path);
  bool any = false;
  for (std::size_t t = 0; t < out.size(); ++t) {
    const Amount sum = sums_[thread_locations_[t]];
    any = any || sum != 0;
    out[t] = severities_.value(metrics_[metric].own.front(), sum);
  }
  return any;
}

std::vector<double> Report::by_thread(std::size_t metric) const {
  std::vector<Amount> sums(threads());
  for (std::size_t c = 0; c < call_paths_.size(); ++c) {
    sum_row(metric, c);
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += sums_[thread_locations_[t]];
  }
  std::vector<double> values;
  for (const Amount sum : sums)
    values.push_back(severities_.value(metrics_[metric].own.front(), sum));
  return values;
}

bool Report::is_wait(std::size_t metric) const {
  return expert::is_wait(metrics_[metric].metric);
}

std::size_t Report::find_metric(std::string_view name) const {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (metrics_[i].metric.name == name) return i;
  }
  return kNone;
}

std::string Report::region_name(RegionId region) const {
  const auto stretch = stretches_.find(region);
  if (stretch != stretches_.end()) return stretch->second;
  const RegionDef* def = definitions_->regions.find(region);
  return def != nullptr ? def->name : "region " + std::to_string(raw(region));
}

bool Report::is_library_function(std::size_t call_path) const {
  const RegionDef* region = definitions_->regions.find(call_paths_[call_path].region);
  return region != nullptr && region->type == kLibraryFunction;
}

std::size_t Report::library_call(std::size_t call_path) const {
  const std::size_t parent = call_paths_[call_path].parent;
  return parent != kNone && is_library_function(parent) ? parent : kNone;
}

CallSiteId Report::program_site(std::size_t call_path) const {
  const std::size_t library = library_call(call_path);
  return call_paths_[library == kNone ? call_path : library].site;
}

std::string Report::call_site(std::size_t call_path) const {
  return site_name(*definitions_, call_paths_[call_path].site);
}

std::string Report::call_path_name(std::size_t call_path) const {
  std::vector<std::size_t> nodes;  // outermost last
  for (std::size_t c = call_path; c != kNone; c = call_paths_[c].parent) nodes.push_back(c);
  const auto part = [&](std::size_t depth) {
    const std::size_t n = nodes.size() - 1 - depth;
    std::string text = region_name(call_paths_[nodes[n]].region);
    if (n == 0) return text;
    // Where in this region the one below was called from.
    const std::string below =
        is_stretch(call_paths_[nodes[n - 1]].region) ? "" : call_site(nodes[n - 1]);
    return below.empty() ? text : text + ' ' + below;
  };
  return cube::joined_path(nodes.size(), part);
}

}  // namespace kojak::expert
