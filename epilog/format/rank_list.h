// An ordered list of world ranks that many objects share.
//
// A run has few groups and may have many communicators and windows over them, so copies share one
// immutable vector. Reads like a const std::vector. Copies may be used from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kojak {

class RankList {
 public:
  using Vector = std::vector<std::uint32_t>;
  using value_type = std::uint32_t;
  using const_iterator = Vector::const_iterator;

  RankList() = default;
  RankList(Vector ranks)  // NOLINT: implicit by design
      : ranks_(ranks.empty() ? nullptr : std::make_shared<const Vector>(std::move(ranks))) {}

  const Vector& vector() const { return ranks_ ? *ranks_ : none(); }
  operator const Vector&() const { return vector(); }  // NOLINT: implicit by design
  std::size_t size() const { return ranks_ ? ranks_->size() : 0; }
  bool empty() const { return !ranks_; }
  std::uint32_t operator[](std::size_t i) const { return (*ranks_)[i]; }
  std::uint32_t front() const { return ranks_->front(); }
  std::uint32_t back() const { return ranks_->back(); }
  const std::uint32_t* data() const { return vector().data(); }
  const_iterator begin() const { return vector().begin(); }
  const_iterator end() const { return vector().end(); }
  friend bool operator==(const RankList& a, const RankList& b) {
    return a.ranks_ == b.ranks_ || a.vector() == b.vector();
  }
  friend bool operator==(const RankList& a, const Vector& b) { return a.vector() == b; }
  friend bool operator<(const RankList& a, const RankList& b) { return a.vector() < b.vector(); }
  template <class Archive>
  void visit(Archive& archive) {
    Vector ranks = vector();
    archive(ranks);
    if (Archive::kReads) *this = std::move(ranks);
  }

 private:
  static const Vector& none() {
    static const Vector empty;
    return empty;
  }
  std::shared_ptr<const Vector> ranks_;
};

}  // namespace kojak
