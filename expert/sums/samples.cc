#include "expert/sums/samples.h"

#include <algorithm>
#include <cstdlib>

#include "epilog/format/run_property_keys.h"

namespace kojak::expert {
namespace {

bool has_line(const Definitions& definitions, const CallSiteDef& site) {
  return !is_absent(site.line) && definitions.files.find(site.file) != nullptr;
}

}  // namespace

double sample_interval(const Definitions& definitions) {
  double seconds = 0;
  definitions.properties.for_each([&](const std::string& key, ProcessId, const std::string& value) {
    if (key == run_property::kSampleInterval) seconds = std::strtod(value.c_str(), nullptr);
  });
  return seconds > 0 ? seconds : 0;
}

std::string site_name(const Definitions& definitions, CallSiteId id) {
  const CallSiteDef* site = is_absent(id) ? nullptr : definitions.call_sites.find(id);
  if (site == nullptr || is_absent(site->line)) return {};
  const std::string* file = definitions.files.find(site->file);
  if (file == nullptr || file->empty()) return {};
  return file->substr(file->rfind('/') + 1) + ":" + std::to_string(raw(site->line));
}

CallSiteId sampled_place(const Definitions& definitions, CallSiteId site) {
  const CallSiteDef* def = is_absent(site) ? nullptr : definitions.call_sites.find(site);
  if (def == nullptr) return absent<CallSiteId>();
  if (has_line(definitions, *def)) return site;
  auto found = absent<CallSiteId>();
  definitions.for_each_caller(*def, [&](CallSiteId id, const CallSiteDef& caller) {
    if (is_absent(found) && has_line(definitions, caller)) found = id;
  });
  return is_absent(found) ? site : found;
}

void Samples::add(LocationIndex location, CallPathIndex path, CallSiteId site,
                  std::uint64_t count) {
  std::vector<Count>& counts = counts_[std::uint64_t{path} << 32 | raw(site)];
  const auto at = std::lower_bound(counts.begin(), counts.end(), location,
                                   [](const Count& c, LocationIndex l) { return c.location < l; });
  if (at != counts.end() && at->location == location) {
    at->count += count;
  } else {
    counts.insert(at, {location, count});
  }
}

void Samples::add(const Samples& other, std::span<const CallPathIndex> paths) {
  for (const auto& [place, counts] : other.counts_) {
    const CallPathIndex path = paths[static_cast<CallPathIndex>(place >> 32)];
    const CallSiteId site{static_cast<std::uint32_t>(place)};
    for (const Count& c : counts) add(c.location, path, site, c.count);
  }
}

void Samples::add_metric(SeverityStore& severities, std::vector<ReportMetric>& metrics,
                         std::vector<CallPath>& call_paths) const {
  if (counts_.empty()) return;
  Metric metric;
  metric.name = kSamplesMetric;
  metric.title = "Samples";
  metric.unit = Unit::kOccurrences;
  metric.kind = Metric::Kind::kSummand;
  metric.summary =
      "How often a thread was found computing there, outside of MPI: once for each interval of "
      "processor time (ELG_SAMPLE).";
  const MetricIndex index = severities.add_metric(SeverityStore::cells_of(metric));
  metrics.push_back({metric, index});
  std::map<std::pair<std::size_t, CallSiteId>, CallPathIndex> known;
  const auto below = [&](CallPathIndex parent, RegionId function, CallSiteId site) {
    const auto [at, fresh] = known.try_emplace({parent, site});
    if (fresh) {
      at->second = static_cast<CallPathIndex>(call_paths.size());
      call_paths.push_back({function, site, parent});
    }
    return at->second;
  };
  std::vector<const CallSiteDef*> chain;  // innermost first
  std::vector<CallSiteId> sites;
  for (const auto& [key, counts] : counts_) {
    auto path = static_cast<CallPathIndex>(key >> 32);
    const CallSiteId place = sampled_place(definitions_, static_cast<CallSiteId>(key));
    chain.clear();
    sites.clear();
    if (!is_absent(place)) {
      chain.push_back(definitions_.call_sites.find(place));
      sites.push_back(place);
      definitions_.for_each_caller(*chain.front(), [&](CallSiteId id, const CallSiteDef& caller) {
        chain.push_back(&caller);
        sites.push_back(id);
      });
    }
    // What is open in the trace encloses what it called; else the outermost function does, which
    // the report puts there by itself.
    std::size_t outermost = chain.size();
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (chain[i]->left == call_paths[path].region) {
        outermost = i + 1;
        break;
      }
    }
    for (std::size_t i = outermost; i-- > 1;) path = below(path, chain[i - 1]->left, sites[i]);
    for (const Count& c : counts) {
      severities.add_whole(index, path, c.location, c.count);
    }
  }
}

CallSiteId most_sampled(const Definitions& definitions,
                        const std::map<CallSiteId, double>& samples) {
  std::map<CallSiteId, double> places;
  std::map<RegionId, double> functions;
  for (const auto& [site, count] : samples) {
    const CallSiteId place = sampled_place(definitions, site);
    if (is_absent(place)) continue;
    places[place] += count;
    functions[definitions.call_sites.find(place)->left] += count;
  }
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto function = std::max_element(functions.begin(), functions.end(), less);
  std::erase_if(places, [&](const auto& place) {
    return definitions.call_sites.find(place.first)->left != function->first;
  });
  const auto found = std::max_element(places.begin(), places.end(), less);
  return found == places.end() ? absent<CallSiteId>() : found->first;
}

}  // namespace kojak::expert
