// What is said of a run: the words, in pieces by where they come from, so that each output writes
// them in its way.
//
// Plain values; nothing fails; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kojak::expert {

struct Statement {
  struct Piece {
    enum class Is : std::uint8_t {
      kWords,    // ours
      kNames,    // with names of the program, which may hold anything
      kCallPath  // "main / exchange / MPI_Put", which may be long
    } is = Is::kWords;
    std::string text;
  };

  std::vector<Piece> pieces;

  Statement& words(std::string text) { return add(Piece::Is::kWords, std::move(text)); }
  Statement& names(std::string text) { return add(Piece::Is::kNames, std::move(text)); }
  Statement& path(std::string text) { return add(Piece::Is::kCallPath, std::move(text)); }
  bool empty() const { return pieces.empty(); }

 private:
  Statement& add(Piece::Is is, std::string text) {
    pieces.push_back({is, std::move(text)});
    return *this;
  }
};

}  // namespace kojak::expert
