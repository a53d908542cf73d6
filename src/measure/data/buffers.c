/* buffers.c: guarded device memory.
 *
 * Layout of the allocation: | slack | guard | contents | guard | slack |. The front guard ends at the first byte of the contents, the
 * back guard begins behind the last one, whatever the size: a stray of a single byte is seen on both sides. */
#include "measure/data/buffers.h"

#include "base/hash.h"
#include "base/math.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

kw_status kw_buffer_open(kw_buffer *buffer, const kw_backend *backend, kw_device *device, const char *name, int64_t size, kw_error *err) {
    bool good = size >= 0;
    int64_t whole = kw_add(size, 2 * KW_GUARD_BYTES + 2 * KW_BUFFER_ALIGN, &good);
    if (!good) {
        return kw_fail(err, KW_ILLEGAL, "%s: a buffer of %lld bytes cannot be", name, (long long)size);
    }
    *buffer = (kw_buffer){.backend = backend, .device = device, .name = name, .size = size};
    void *memory = NULL;
    kw_status status = backend->alloc(device, (size_t)whole, &memory, err);
    if (status) {
        *buffer = (kw_buffer){0};
        return status;
    }
    buffer->memory = memory;
    kw_buffer_shift(buffer, 0);
    return KW_OK;
}

void kw_buffer_close(kw_buffer *buffer) {
    if (buffer->memory) {
        buffer->backend->release(buffer->device, buffer->memory);
    }
    *buffer = (kw_buffer){0};
}

void kw_buffer_shift(kw_buffer *buffer, int shift) {
    uintptr_t front = (uintptr_t)buffer->memory + KW_GUARD_BYTES;
    uintptr_t skip = (KW_BUFFER_ALIGN - front % KW_BUFFER_ALIGN) % KW_BUFFER_ALIGN;
    buffer->start = buffer->memory + KW_GUARD_BYTES + skip + shift;
}

static kw_status fill_bytes(const kw_buffer *buffer, char *start, int64_t size, unsigned char byte, kw_error *err) {
    size_t most = (size_t)kw_min(size, KW_PIECE_BYTES);
    unsigned char *pattern = malloc(most + 1);
    if (!pattern) {
        return kw_fail_memory(err, "a piece of a buffer");
    }
    memset(pattern, byte, most);
    kw_status status = KW_OK;
    for (int64_t at = 0; at < size && !status; at += KW_PIECE_BYTES) {
        status = buffer->backend->copy(buffer->device, start + at, pattern, (size_t)kw_min(size - at, KW_PIECE_BYTES), err);
    }
    free(pattern);
    return status;
}

kw_status kw_buffer_guard(kw_buffer *buffer, unsigned char byte, kw_error *err) {
    buffer->fill = byte;
    kw_status status = fill_bytes(buffer, buffer->start - KW_GUARD_BYTES, KW_GUARD_BYTES, byte, err);
    return status ? status : fill_bytes(buffer, buffer->start + buffer->size, KW_GUARD_BYTES, byte, err);
}

kw_status kw_buffer_poison(kw_buffer *buffer, unsigned char byte, kw_error *err) {
    return fill_bytes(buffer, buffer->start, buffer->size, byte, err);
}

kw_status kw_buffer_write(kw_buffer *buffer, const void *from, kw_error *err) {
    return buffer->backend->copy(buffer->device, buffer->start, from, (size_t)buffer->size, err);
}

kw_status kw_buffer_read(const kw_buffer *buffer, int64_t offset, void *to, size_t size, kw_error *err) {
    return buffer->backend->copy(buffer->device, to, buffer->start + offset, size, err);
}

kw_status kw_buffer_intact(const kw_buffer *buffer, kw_error *err) {
    unsigned char guard[KW_GUARD_BYTES];
    kw_status status = kw_buffer_read(buffer, -KW_GUARD_BYTES, guard, sizeof guard, err);
    if (status) {
        return status;
    }
    for (int i = KW_GUARD_BYTES - 1; i >= 0; i--) {
        if (guard[i] != buffer->fill) {
            return kw_fail(err, KW_FAILED, "%s: written %d bytes before its start", buffer->name, KW_GUARD_BYTES - i);
        }
    }
    status = kw_buffer_read(buffer, buffer->size, guard, sizeof guard, err);
    if (status) {
        return status;
    }
    for (int i = 0; i < KW_GUARD_BYTES; i++) {
        if (guard[i] != buffer->fill) {
            return kw_fail(err, KW_FAILED, "%s: written at byte %lld, %d past its end", buffer->name, (long long)(buffer->size + i), i + 1);
        }
    }
    return KW_OK;
}

kw_status kw_buffer_hash(const kw_buffer *buffer, uint64_t *hash, kw_error *err) {
    unsigned char *piece = malloc((size_t)kw_min(buffer->size, KW_PIECE_BYTES) + 1);
    if (!piece) {
        return kw_fail_memory(err, "a piece of a buffer");
    }
    uint64_t chain[2] = {0, 0};
    kw_status status = KW_OK;
    for (int64_t at = 0; at < buffer->size && !status; at += KW_PIECE_BYTES) {
        size_t size = (size_t)kw_min(buffer->size - at, KW_PIECE_BYTES);
        status = kw_buffer_read(buffer, at, piece, size, err);
        if (!status) {
            chain[1] = kw_hash64(piece, size);
            chain[0] = kw_hash64(chain, sizeof chain);
        }
    }
    free(piece);
    *hash = chain[0];
    return status;
}
