// Makes the records of version 2.0 out of compact ones (state.h has the form).
//
// A Decoder goes through the bytes behind a file's header in as many pieces as the caller likes:
// what it knows between two of them is its own, and nothing else is touched, so decoders of
// different files, or of different blocks of one, may work in different threads. Records come out
// in the file's byte order. Nothing is allocated, nothing throws: what cannot be read ends it, and
// `reason` says why.
#pragma once

#include "epilog/format/compact/checked.h"
#include "epilog/format/compact/encode.h"

namespace kojak::compact {

// Bytes of the head of a block, if one begins here.
constexpr std::size_t head_size(const std::byte* item) {
  if (item[0] != std::byte{kBlock}) return 0;
  if (item[1] == std::byte{kCheckedBlock}) return kCheckedHead;
  return item[1] == static_cast<std::byte>(Times::kTicks) ? kMaxBlockHead : 2;
}

class Decoder {
 public:
  enum class Stop : std::uint8_t {
    kInput,      // needs more input, or has had the last of it
    kOutput,     // needs more room
    kNextBlock,  // of decode_block(): the next block begins
    kDamaged,    // `in` is where; what came before is right
  };
  struct Piece {
    const std::byte* in;  // behind the last item that was read
    std::byte* out;       // behind the last record
    Stop stop;
    const std::byte* block = nullptr;  // the last one that began, if one did
    std::byte* block_out = nullptr;    // where its records begin
    std::size_t needs = kMaxItem;      // after kInput: so many bytes from `in` on, to go on
  };

  explicit Decoder(bool swap) : swap_(swap) {}

  // Decodes what lies in [in, end) whole, as far as the records fit into [out, out_end). `last`: no
  // more will follow, so an item that is not whole is damage; else up to kMaxItem bytes are left,
  // or a block with a checksum that is not there whole. Of one whose checksum is wrong nothing
  // comes out; one that the file's end cuts off is decoded unchecked.
  Piece decode(const std::byte* in, const std::byte* end, bool last, std::byte* out,
               std::byte* out_end);
  bool swap() const { return swap_; }
  // Decodes up to the end of the block that begins at `in`, or goes on there; all of the file is
  // there.
  Piece decode_block(const std::byte* in, const std::byte* end, std::byte* out, std::byte* out_end);
  // After kDamaged; kEndsInsideRecord and kWrongChecksum of reader.h among them.
  const char* reason() const { return reason_; }
  // At the beginning of a block.
  void restart() { *this = Decoder(swap_); }

 private:
  // One item; null if it is damaged. Reads up to kMaxItem bytes.
  template <bool kSwap>
  const std::byte* item(const std::byte* in, std::byte*& out);
  const std::byte* other_item(const std::byte* in, std::byte*& out);
  template <bool kSwap>
  const std::byte* joint_item(std::uint8_t type, std::uint32_t present, const std::byte* in,
                              std::byte*& out);
  template <bool kSwap>
  Piece run(const std::byte* in, const std::byte* end, bool last, bool one_block, std::byte* out,
            std::byte* out_end);
  template <bool kSwap>
  bool items(Piece& piece, const std::byte* end, bool last, bool one_block, std::byte* out_end);
  bool has_checked_head(Piece& piece, std::size_t available, bool last);
  bool open_checked(Piece& piece, std::size_t available, bool last);
  bool damaged(Piece& piece, const char* reason);
  std::uint32_t u4(const std::byte* p) const;

  static constexpr std::size_t kOpen = ~std::size_t{0};

  State state_;
  TickClock clock_;
  Times times_ = Times::kSeconds;
  bool swap_;
  bool in_block_ = false;
  std::size_t left_ = kOpen;  // bytes of the block, if it has a checksum
  const char* reason_ = nullptr;
};

}  // namespace kojak::compact
