#include "expert/html/density.h"

#include <algorithm>
#include <cmath>

namespace kojak::html {
namespace {

constexpr std::size_t kMostColumns = 2048, kFewestColumns = 16;

std::size_t columns_for(std::size_t rows, std::size_t cells) {
  std::size_t columns = kMostColumns;
  while (columns > kFewestColumns && columns * rows > cells) columns /= 2;
  return columns;
}

// What is there is never drawn as nothing.
std::uint8_t as_share(float part) {
  if (!(part > 0)) return 0;
  return static_cast<std::uint8_t>(std::clamp(std::lround(part * 255), 1L, 255L));
}

std::vector<std::uint8_t> as_shares(const std::vector<float>& parts) {
  std::vector<std::uint8_t> shares(parts.size());
  std::transform(parts.begin(), parts.end(), shares.begin(), as_share);
  return shares;
}

}  // namespace

DensityBins::DensityBins(std::size_t rows, Nanoseconds span, std::size_t cells)
    : columns_(columns_for(rows, cells)),
      per_nanosecond_(static_cast<double>(columns_) /
                      static_cast<double>(std::max<Nanoseconds>(span, 1))),
      mpi_(rows * columns_),
      waiting_(rows * columns_) {}

void DensityBins::add_mpi(std::size_t row, Nanoseconds begin, Nanoseconds end) {
  add(mpi_, row, begin, end, 1);
}

void DensityBins::add_wait(std::size_t row, Nanoseconds begin, Nanoseconds end,
                           Nanoseconds waited) {
  if (end <= begin) return;
  add(waiting_, row, begin, end,
      std::min(1.0, static_cast<double>(waited) / static_cast<double>(end - begin)));
}

void DensityBins::add(std::vector<float>& cells, std::size_t row, Nanoseconds begin,
                      Nanoseconds end, double weight) const {
  const auto most = static_cast<double>(columns_);
  const double from = std::min(static_cast<double>(begin) * per_nanosecond_, most);
  const double to = std::min(static_cast<double>(end) * per_nanosecond_, most);
  if (!(from < to)) return;
  float* const of_row = cells.data() + row * columns_;
  const auto first = static_cast<std::size_t>(from);
  const std::size_t last = std::min(static_cast<std::size_t>(to), columns_ - 1);
  if (first >= last) {
    of_row[std::min(first, last)] += static_cast<float>(weight * (to - from));
    return;
  }
  of_row[first] += static_cast<float>(weight * (static_cast<double>(first + 1) - from));
  for (std::size_t c = first + 1; c < last; ++c) of_row[c] += static_cast<float>(weight);
  of_row[last] += static_cast<float>(weight * (to - static_cast<double>(last)));
}

Density DensityBins::finish() const {
  return {static_cast<std::uint32_t>(columns_), as_shares(waiting_), as_shares(mpi_)};
}

void halve(Density& density) {
  for (std::vector<std::uint8_t>* shares : {&density.waiting, &density.mpi}) {
    for (std::size_t i = 0; 2 * i + 1 < shares->size(); ++i) {
      (*shares)[i] = static_cast<std::uint8_t>(((*shares)[2 * i] + (*shares)[2 * i + 1] + 1) / 2);
    }
    shares->resize(shares->size() / 2);
  }
  density.columns /= 2;
}

}  // namespace kojak::html
