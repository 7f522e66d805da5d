// Text-trace lines of general active target synchronisation, for tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace kojak::earl {

// Lines in any order; text() sorts them by time (a stable sort: equal times keep their order).
class Script {
 public:
  Script& line(double time, const std::string& name, int lid, const std::string& rest = "") {
    lines_.push_back({time, name + " lid=" + std::to_string(lid) + " time=" + number(time) +
                                (rest.empty() ? "" : " " + rest)});
    return *this;
  }
  Script& head(const std::string& text) {
    head_ += text + "\n";
    return *this;
  }
  // A call that begins or ends an epoch; group like "[1,2]".
  Script& sync(int lid, const char* region, double enter, double exit, const std::string& group,
               int window = 0) {
    const std::string name = region;
    const bool ends =
        name == "MPI_Win_complete" || name == "MPI_Win_wait" || name == "MPI_Win_test";
    line(enter, "ENTER", lid, "region=" + name);
    return line(
        exit, "MPI_WINEXIT", lid,
        "wid=" + std::to_string(window) + " group=" + group + " synex=" + (ends ? "1" : "0"));
  }
  Script& start(int lid, double enter, double exit, const std::string& group, int window = 0) {
    return sync(lid, "MPI_Win_start", enter, exit, group, window);
  }
  Script& complete(int lid, double enter, double exit, const std::string& group, int window = 0) {
    return sync(lid, "MPI_Win_complete", enter, exit, group, window);
  }
  Script& post(int lid, double enter, double exit, const std::string& group, int window = 0) {
    return sync(lid, "MPI_Win_post", enter, exit, group, window);
  }
  Script& wait(int lid, double enter, double exit, const std::string& group, int window = 0) {
    return sync(lid, "MPI_Win_wait", enter, exit, group, window);
  }
  Script& put(int lid, double enter, double exit, int target, int rmaid, int window = 0) {
    line(enter, "ENTER", lid, "region=MPI_Put");
    line(enter, "MPI_PUT_1TS", lid,
         "dlid=" + std::to_string(target) + " wid=" + std::to_string(window) +
             " rmaid=" + std::to_string(rmaid) + " sent=8");
    return line(exit, "EXIT", lid);
  }
  Script& call(int lid, double enter, double exit, const std::string& region) {
    line(enter, "ENTER", lid, "region=" + region);
    return line(exit, "EXIT", lid);
  }
  std::string text() const {
    std::vector<Line> sorted = lines_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Line& a, const Line& b) { return a.time < b.time; });
    std::string result = head_;
    for (const Line& l : sorted) result += l.text + "\n";
    return result;
  }

 private:
  struct Line {
    double time;
    std::string text;
  };
  static std::string number(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return buffer;
  }
  std::string head_;
  std::vector<Line> lines_;
};

}  // namespace kojak::earl
