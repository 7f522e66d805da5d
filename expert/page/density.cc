#include "expert/page/density.h"

#include <algorithm>
#include <cmath>

namespace kojak::html {
namespace {

// Bins are finer than columns where there is room, so that columns need not begin where bins do.
constexpr std::size_t kMostBins = 8192, kFewestBins = 16, kMostColumns = 2048;

std::size_t bins_for(std::size_t rows, std::size_t cells) {
  std::size_t bins = kMostBins;
  while (bins > kFewestBins && bins * rows > cells) bins /= 2;
  return bins;
}

// What is there is never drawn as nothing.
std::uint8_t as_share(double part) {
  if (!(part > 0)) return 0;
  return static_cast<std::uint8_t>(std::clamp(std::lround(part * 255), 1L, 255L));
}

}  // namespace

DensityBins::DensityBins(std::size_t rows, std::size_t cells)
    : rows_(rows), bins_(bins_for(rows, cells)), mpi_(rows * bins_), waiting_(rows * bins_) {}

void DensityBins::add_mpi(std::size_t row, Nanoseconds begin, Nanoseconds end) {
  if (end > begin) add(mpi_, row, begin, end, end - begin);
}

void DensityBins::add_wait(std::size_t row, Nanoseconds begin, Nanoseconds end,
                           Nanoseconds waited) {
  if (end > begin) add(waiting_, row, begin, end, std::min(waited, end - begin));
}

void DensityBins::double_bins() {
  ++shift_;
  for (Cells* cells : {&mpi_, &waiting_}) {
    for (std::size_t row = 0; row < rows_; ++row) {
      Nanoseconds* const of_row = cells->data() + row * bins_;
      for (std::size_t i = 0; i < bins_ / 2; ++i) of_row[i] = of_row[2 * i] + of_row[2 * i + 1];
      std::fill(of_row + bins_ / 2, of_row + bins_, 0);
    }
  }
}

void DensityBins::make_room(Nanoseconds end) {
  while ((end - 1) >> shift_ >= bins_) double_bins();
}

// Of the time, `counts` nanoseconds: spread evenly, so that two bins together hold what one of
// twice their length would.
void DensityBins::add(Cells& cells, std::size_t row, Nanoseconds begin, Nanoseconds end,
                      Nanoseconds counts) {
  if ((end - 1) >> shift_ >= bins_) make_room(end);
  Nanoseconds* const of_row = cells.data() + row * bins_;
  const std::size_t first = begin >> shift_, last = (end - 1) >> shift_;
  if (first == last) {
    of_row[first] += counts;
    return;
  }
  const Nanoseconds length = end - begin;
  const auto up_to = [&](Nanoseconds time) -> Nanoseconds {
    if (counts == length) return time - begin;
    __extension__ using Wide = unsigned __int128;
    return static_cast<Nanoseconds>(Wide{counts} * (time - begin) / length);
  };
  Nanoseconds before = 0;
  for (std::size_t bin = first; bin < last; ++bin) {
    const Nanoseconds now = up_to((Nanoseconds{bin} + 1) << shift_);
    of_row[bin] += now - before;
    before = now;
  }
  of_row[last] += counts - before;
}

void DensityBins::add(DensityBins& other) {
  while (shift_ < other.shift_) double_bins();
  while (other.shift_ < shift_) other.double_bins();
  for (std::size_t i = 0; i < mpi_.size(); ++i) {
    mpi_[i] += other.mpi_[i];
    waiting_[i] += other.waiting_[i];
  }
}

std::vector<std::uint8_t> DensityBins::shares(const Cells& cells, Nanoseconds span,
                                              std::size_t columns) const {
  std::vector<std::uint8_t> all(rows_ * columns);
  const double bin = std::ldexp(1.0, static_cast<int>(shift_));
  const double step = static_cast<double>(span) / static_cast<double>(columns);
  // What of the last bin lies within the run is all that was put there.
  const auto length_of = [&](std::size_t i) {
    return std::min(bin, static_cast<double>(span) - static_cast<double>(i) * bin);
  };
  for (std::size_t row = 0; row < rows_; ++row) {
    const Nanoseconds* const of_row = cells.data() + row * bins_;
    std::size_t at = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      const double from = static_cast<double>(column) * step, to = from + step;
      double sum = 0;
      while (at < bins_) {
        const double begin = static_cast<double>(at) * bin, length = length_of(at);
        if (!(length > 0)) break;
        const double common = std::min(to, begin + length) - std::max(from, begin);
        if (common > 0) sum += static_cast<double>(of_row[at]) * std::min(1.0, common / length);
        if (begin + length > to) break;
        ++at;
      }
      all[row * columns + column] = as_share(sum / step);
    }
  }
  return all;
}

Density DensityBins::finish(Nanoseconds span) const {
  span = std::max<Nanoseconds>(span, 1);
  const std::size_t columns = std::min(bins_, kMostColumns);
  return {static_cast<std::uint32_t>(columns), shares(waiting_, span, columns),
          shares(mpi_, span, columns)};
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
