// The records of a trace in memory by their offsets, whatever the form of its file.
//
// A plain trace is taken as it lies there. In one with compact records (version 3.0) offsets are
// those that the records have as version 2.0 has them; its blocks are decoded when they are asked
// for, and the last ones kept. Where blocks begin is learnt by going through the file once
// (next()), or comes from an index that was kept. The file must outlive it. Any thread may read
// once all blocks are known. Errors: damage() says what is wrong with compact records; those before
// it can be read.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "earl/access/mapped_file.h"
#include "epilog/format/record/codec.h"

namespace kojak::earl {

class RecordBlocks {
 public:
  // Whole records that lie one behind the other; alive as long as this is.
  struct Window {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::uint64_t offset = 0;  // of `begin`
    std::shared_ptr<const std::byte[]> bytes;
  };
  struct Block {
    std::uint64_t file, records;  // its offset in the file, and that of its records
  };

  RecordBlocks(const MappedFile& file, const Dialect& dialect);

  // What has the record with this offset, which must be one; empty behind the last.
  Window at(std::uint64_t offset) const;
  // What follows a window; empty at the end.
  Window next(const Window& window) const;
  // What ended the records before the end of the file.
  std::optional<Error> damage(const std::string& path) const;

  const std::vector<Block>& blocks() const { return blocks_; }
  // All of them, as an index has them; false if they are not those of such a file.
  bool know(std::vector<Block> blocks);

 private:
  static constexpr std::size_t kKept = 256;  // decoded blocks
  struct Kept {
    std::size_t block = ~std::size_t{0};
    Window window;
  };
  Window decoded(std::size_t block) const;
  Window decode(std::size_t block) const;

  const MappedFile& file_;
  bool compact_, swap_;
  mutable std::mutex mutex_;
  // Known blocks; behind the last of them nothing is known, unless `complete_`.
  mutable std::vector<Block> blocks_;
  mutable bool complete_ = false;
  mutable const char* reason_ = nullptr;  // of damage, and where in the file
  mutable std::uint64_t damaged_at_ = 0;
  mutable std::vector<Kept> kept_;
};

}  // namespace kojak::earl
