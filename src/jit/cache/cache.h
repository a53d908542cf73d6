/* cache.h: what jit.c asks of the cache beyond jit.h. Keys are lower-case hexadecimal digits and '-', KW_CACHE_KEY_MIN to
 * KW_CACHE_KEY_MAX of them, and begin with two digits; other keys are KW_ILLEGAL, so that no key can name a file elsewhere. */
#ifndef KW_JIT_CACHE_CACHE_H
#define KW_JIT_CACHE_CACHE_H

#include "jit/jit.h"

enum { KW_CACHE_KEY_MIN = 4, KW_CACHE_FORMAT = 1 };

/* Whether there is an entry of this name; it is not read. */
bool kw_cache_has(kw_cache *cache, const char *key);
/* The key of the youngest entry that begins with prefix (of at least two digits); false when there is none. */
bool kw_cache_youngest(kw_cache *cache, const char *prefix, char key[KW_CACHE_KEY_MAX + 1]);

/* Reads an entry's bytes: KW_OK and the payload's place inside them, or KW_MALFORMED and the rule they break. Any bytes may be given. */
kw_status kw_entry_read(const char **payload, size_t *size, const void *bytes, size_t count, const char *key, kw_error *err);
/* The bytes of an entry. */
kw_status kw_entry_write(kw_text *bytes, const char *key, const kw_blob *blob, kw_error *err);

#endif
