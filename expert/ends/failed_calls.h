// Calls of MPI that returned an error, by call path, error class and process.
//
// Memory: one row for each of these. Nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "earl/call.h"
#include "epilog/format/record/types.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

struct FailedCalls {
  CallPathIndex call_path = 0;
  std::uint8_t error_class = 0;  // as in epilog/format/mpi_errors.h
  LocationIndex location = 0;
  std::uint32_t process = 0;
  std::uint64_t count = 0;
  Seconds first;
};

class FailedCallCounter {
 public:
  void on_failed_call(const earl::OpenCall& call, Seconds time, std::uint8_t error_class,
                      std::uint32_t /*code*/) {
    add(raw(call.cnode), call.index, raw(call.process), time, error_class);
  }
  void add(CallPathIndex call_path, LocationIndex location, std::uint32_t process, Seconds time,
           std::uint8_t error_class) {
    const auto [at, fresh] = rows_.try_emplace({call_path, error_class, location});
    if (fresh) at->second = {call_path, error_class, location, process, 0, time};
    ++at->second.count;
  }
  // What another one was told of, behind this one; its call path p is paths[p] here.
  void add(const FailedCallCounter& other, std::span<const CallPathIndex> paths) {
    for (const auto& [key, row] : other.rows_) {
      const CallPathIndex path = paths[key.call_path];
      const auto [at, fresh] = rows_.try_emplace({path, key.error_class, key.location}, row);
      if (!fresh) at->second.count += row.count;
      at->second.call_path = path;
    }
  }
  template <class Archive>
  void visit(Archive& archive) {
    archive(rows_);
  }
  std::vector<FailedCalls> take() const {
    std::vector<FailedCalls> rows;
    for (const auto& [key, row] : rows_) rows.push_back(row);
    return rows;
  }

 private:
  struct Key {
    CallPathIndex call_path = 0;
    std::uint8_t error_class = 0;
    LocationIndex location = 0;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, FailedCalls> rows_;
};

}  // namespace kojak::expert
