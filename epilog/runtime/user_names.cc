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
  const char* from;  // the caller's name of the file, which need not be there any more
  Named* next;       // with the same hash
};
HashMap<Named*> names;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

constexpr std::size_t kMostLength = 4096;

std::uint64_t hash_of(const char* text, std::size_t length, int line) {
  std::uint64_t hash = length ^ static_cast<std::uint64_t>(line) << 32;
  for (std::size_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001B3u;
  }
  return hash;
}

const char* copy_of(const char* text, std::size_t length) {
  auto* const copy = static_cast<char*>(allocate(length + 1));
  if (copy != nullptr) memcpy(copy, text, length);
  return copy;
}

Named* find_or_add(const char* text, std::size_t length, const char* file, int line) {
  const std::uint64_t hash = hash_of(text, length, line);
  Named** const head = names.find(hash);
  for (Named* n = head != nullptr ? *head : nullptr; n != nullptr; n = n->next) {
    if (n->length == length && n->region.line == line && n->from == file &&
        memcmp(n->region.name, text, length) == 0) {
      return n;
    }
  }
  const char* const name = copy_of(text, length);
  const char* const place = file != nullptr ? copy_of(file, strlen(file)) : nullptr;
  Named* const named = create<Named>();
  if (name == nullptr || named == nullptr) return nullptr;
  *named = {{name, place, line}, length, file, head != nullptr ? *head : nullptr};
  return names.set(hash, named) != nullptr ? named : nullptr;
}

}  // namespace

const elg_region* named_region(const char* text, std::size_t length, const char* file, int line) {
  if (length > kMostLength) length = kMostLength;
  pthread_mutex_lock(&mutex);
  const Named* const named = find_or_add(text, length, file, line);
  pthread_mutex_unlock(&mutex);
  return named != nullptr ? &named->region : nullptr;
}

}  // namespace kojak::measure
