/* hash.c: XXH3 behind two functions, so that the choice of hash stays in one place. */
#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

uint64_t kw_hash64(const void *bytes, size_t size) {
    return XXH3_64bits(bytes, size);
}

void kw_hash_text(char text[KW_HASH_TEXT], const void *bytes, size_t size) {
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    snprintf(text, KW_HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}
