#include "epilog/shmem/exchange.h"

#include <string.h>

#include "epilog/runtime/session.h"
#include "epilog/shmem/forwards.h"

namespace kojak::measure {
namespace {

// Where a process finds what another one has sent: the value, and how many were sent.
struct Mailbox {
  double value;
  long count;
};

Mailbox* mailboxes = nullptr;  // symmetric, one for each process
Vector<long> sent, received;   // to and from each

int rank() {
  return static_cast<int>(the_session.run.rank);
}

// Everybody puts its own into everybody's block. Allocation and barrier are collective: none is
// left out where one fails, since all are given the same.
bool gather(const void* mine, std::size_t bytes, void* all) {
  const std::uint32_t size = the_session.run.size;
  auto* const block = static_cast<char*>(kojak_pshmem_malloc(bytes * size));
  if (block == nullptr) return false;
  char* const place = block + bytes * the_session.run.rank;
  for (std::uint32_t pe = 0; pe < size; ++pe)
    kojak_pshmem_putmem(place, mine, bytes, static_cast<int>(pe));
  kojak_pshmem_barrier_all();
  memcpy(all, block, bytes * size);
  kojak_pshmem_free(block);  // not before all have read theirs: it begins with a barrier
  return true;
}

bool spread(void* data, std::size_t bytes) {
  auto* const block = kojak_pshmem_malloc(bytes);
  if (block == nullptr) return false;
  for (std::uint32_t pe = 0; rank() == 0 && pe < the_session.run.size; ++pe)
    kojak_pshmem_putmem(block, data, bytes, static_cast<int>(pe));
  kojak_pshmem_barrier_all();
  memcpy(data, block, bytes);
  kojak_pshmem_free(block);
  return true;
}

bool open_exchange() {
  const std::size_t size = the_session.run.size;
  mailboxes = static_cast<Mailbox*>(kojak_pshmem_calloc(size, sizeof(Mailbox)));
  if (mailboxes == nullptr || !sent.resize(size) || !received.resize(size)) return false;
  for (std::size_t i = 0; i < size; ++i) sent[i] = received[i] = 0;
  kojak_pshmem_barrier_all();
  return true;
}

void close_exchange() {
  if (mailboxes != nullptr) kojak_pshmem_free(mailboxes);
  mailboxes = nullptr;
  sent.clear();
  received.clear();
}

void send(double value, std::uint32_t to) {
  Mailbox& box = mailboxes[rank()];
  kojak_pshmem_double_p(&box.value, value, static_cast<int>(to));
  kojak_pshmem_fence();
  kojak_pshmem_long_p(&box.count, ++sent[to], static_cast<int>(to));
  kojak_pshmem_quiet();
}

double receive(std::uint32_t from) {
  Mailbox& box = mailboxes[from];
  const long wanted = ++received[from];
  // No wait of the library's: its comparisons have other numbers in each. What gets from oneself
  // lets the others' puts come in. The next value comes after our answer only.
  while (kojak_pshmem_long_g(&box.count, rank()) != wanted) kojak_pshmem_quiet();
  return kojak_pshmem_double_g(&box.value, rank());
}

}  // namespace

const Exchange kShmemExchange = {gather, spread, open_exchange, close_exchange, send, receive};

}  // namespace kojak::measure
