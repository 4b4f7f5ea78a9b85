#include "heap.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace orrery::cli {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargest = 32 << 20;  // that glibc takes: above it, mappings of their own remain
  constexpr int kKept = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

}  // namespace orrery::cli
