/* sized.c: reading structs of an older or a newer header. */
#include "base/sized.h"

#include <assert.h>
#include <string.h>

/* By how much a newer header's struct may be larger: a size beyond is no size but what happened to lie there, and is not followed. */
enum { GROWTH_MAX = 4096 };

kw_status kw_sized_read(void *own, size_t size, size_t least, const void *given, const char *type, kw_error *err) {
    assert(least <= size && !(least % sizeof(size_t)) && !(size % sizeof(size_t)));
    memset(own, 0, size);
    memcpy(own, &size, sizeof size);
    if (!given) {
        return KW_OK;
    }
    size_t its;
    memcpy(&its, given, sizeof its);
    if (its < least || its % sizeof(size_t) || its > size + GROWTH_MAX) {
        return kw_fail(err, KW_ILLEGAL, "%s.size is %zu, which no release's header gives it; set it to sizeof(%s), which is %zu today",
                       type, its, type, size);
    }
    for (size_t i = size; i < its; i++) {
        if (((const unsigned char *)given)[i]) {
            return kw_fail(err, KW_ILLEGAL,
                           "%s.size is %zu and byte %zu is set, but this library, %s, knows %zu bytes; leave newer members zero or take a"
                           " newer library",
                           type, its, i, kw_version(), size);
        }
    }
    /* The size stays that of today's header: who reads the copy has all of it. */
    memcpy((char *)own + sizeof size, (const char *)given + sizeof size, (its < size ? its : size) - sizeof size);
    return KW_OK;
}
