/* fuzz_entry.c: bytes as a cache entry and as a shared object. What is accepted must lie inside the bytes; an entry whose digest is made right
 * first reaches the rules behind it. */
#include "base/hash.h"
#include "jit/cache/cache.h"
#include "jit/toolchain/cc.h"

#include <stdlib.h>
#include <string.h>

static const char key[] = "ab12cd-34";

static void read_entry(const char *bytes, size_t count) {
    const char *payload = NULL;
    size_t size = 0;
    if (kw_entry_read(&payload, &size, bytes, count, key, NULL)) {
        return;
    }
    if (payload < bytes || size > count || payload + size > bytes + count) {
        abort();
    }
    kw_blob blob = {malloc(size ? size : 1), size};
    if (blob.data) {
        memcpy(blob.data, payload, size);
        kw_blob_check(&blob, NULL);
    }
    kw_blob_drop(&blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { DIGEST = KW_HASH_TEXT - 1 };
    char digest[KW_HASH_TEXT], *copy = malloc(size ? size : 1);
    if (!copy) {
        return 0;
    }
    memcpy(copy, data, size);
    kw_blob blob = {copy, size};
    kw_blob_check(&blob, NULL);
    read_entry(copy, size);
    if (size > DIGEST) {
        kw_hash_text(digest, copy, size - DIGEST);
        memcpy(copy + size - DIGEST, digest, DIGEST);
        read_entry(copy, size);
    }
    free(copy);
    return 0;
}
