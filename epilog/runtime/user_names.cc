#include "epilog/runtime/user_names.h"

#include <pthread.h>
#include <string.h>

#include "epilog/runtime/elg_user.h"
#include "epilog/runtime/memory.h"

namespace kojak::measure {
namespace {

struct Named {
  elg_region region;
  std::size_t length;
  Named* next;  // with the same hash
};
HashMap<Named*> names;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

constexpr std::size_t kMostLength = 4096;

std::uint64_t hash_of(const char* text, std::size_t length) {
  std::uint64_t hash = length;
  for (std::size_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001B3u;
  }
  return hash;
}

Named* find_or_add(const char* text, std::size_t length) {
  const std::uint64_t hash = hash_of(text, length);
  Named** const head = names.find(hash);
  for (Named* n = head != nullptr ? *head : nullptr; n != nullptr; n = n->next) {
    if (n->length == length && memcmp(n->region.name, text, length) == 0) return n;
  }
  char* const copy = static_cast<char*>(allocate(length + 1));
  Named* const named = create<Named>();
  if (copy == nullptr || named == nullptr) return nullptr;
  memcpy(copy, text, length);
  named->region.name = copy;
  named->length = length;
  named->next = head != nullptr ? *head : nullptr;
  return names.set(hash, named) != nullptr ? named : nullptr;
}

}  // namespace

const elg_region* named_region(const char* text, std::size_t length) {
  if (length > kMostLength) length = kMostLength;
  while (length != 0 && text[length - 1] == ' ') --length;
  pthread_mutex_lock(&mutex);
  const Named* const named = find_or_add(text, length);
  pthread_mutex_unlock(&mutex);
  return named != nullptr ? &named->region : nullptr;
}

}  // namespace kojak::measure
