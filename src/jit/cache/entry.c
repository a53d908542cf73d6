/* entry.c: the bytes of one cache entry. Numbers are little-endian, whatever the machine.
 *
 *   0   8  "KWENTRY\n"
 *   8   4  KW_CACHE_FORMAT
 *  12   4  KW_KERNEL_ABI
 *  16   8  bytes of the key
 *  24   8  bytes of the payload
 *  32      key, payload
 *          32 hexadecimal digits: XXH3-128 of everything before
 *
 * The file ends there. The digest finds accidents (torn writes, bad disks, lost power); it is no signature: who can write the folder can
 * write a valid entry, which is why the folder must be its owner's alone (cache.c). */
#include "jit/cache/cache.h"

#include "base/hash.h"

#include "prelude/kernel_abi.h"
#include <string.h>

enum { HEAD_BYTES = 32, DIGEST_BYTES = KW_HASH_TEXT - 1 };
static const char magic[] = "KWENTRY\n";

static void put_bytes(unsigned char *to, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(number >> (8 * i));
    }
}

static uint64_t get_number(const unsigned char *from, int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++) {
        number |= (uint64_t)from[i] << (8 * i);
    }
    return number;
}

kw_status kw_entry_write(kw_text *bytes, const char *key, const kw_blob *blob, kw_error *err) {
    unsigned char head[HEAD_BYTES];
    char digest[KW_HASH_TEXT];
    memcpy(head, magic, 8);
    put_bytes(head + 8, KW_CACHE_FORMAT, 4);
    put_bytes(head + 12, KW_KERNEL_ABI, 4);
    put_bytes(head + 16, strlen(key), 8);
    put_bytes(head + 24, blob->size, 8);
    kw_text_add_bytes(bytes, head, sizeof head);
    kw_text_add(bytes, key);
    kw_text_add_bytes(bytes, blob->data, blob->size);
    if (!bytes->failed) {
        kw_hash_text(digest, bytes->data, bytes->size);
        kw_text_add(bytes, digest);
    }
    return bytes->failed ? kw_fail_memory(err, "a cache entry") : KW_OK;
}

kw_status kw_entry_read(const char **payload, size_t *size, const void *bytes, size_t count, const char *key, kw_error *err) {
    const unsigned char *head = bytes;
    size_t key_size = strlen(key);
    if (count < HEAD_BYTES + DIGEST_BYTES || memcmp(head, magic, 8)) {
        return kw_fail(err, KW_MALFORMED, "cache entry %s: no entry of this program", key);
    }
    if (get_number(head + 8, 4) != KW_CACHE_FORMAT || get_number(head + 12, 4) != KW_KERNEL_ABI) {
        return kw_fail(err, KW_MALFORMED, "cache entry %s: of another format or kernel ABI", key);
    }
    uint64_t body = count - HEAD_BYTES - DIGEST_BYTES;
    if (get_number(head + 16, 8) != key_size || key_size > body || get_number(head + 24, 8) != body - key_size) {
        return kw_fail(err, KW_MALFORMED, "cache entry %s: its sizes do not add up", key);
    }
    if (memcmp(head + HEAD_BYTES, key, key_size)) {
        return kw_fail(err, KW_MALFORMED, "cache entry %s: holds another key", key);
    }
    char digest[KW_HASH_TEXT];
    kw_hash_text(digest, bytes, count - DIGEST_BYTES);
    if (memcmp(digest, head + count - DIGEST_BYTES, DIGEST_BYTES)) {
        return kw_fail(err, KW_MALFORMED, "cache entry %s: its digest differs", key);
    }
    *payload = (const char *)head + HEAD_BYTES + key_size;
    *size = (size_t)(body - key_size);
    return KW_OK;
}
