/* buffers.h: device memory that notices strays. A buffer has a guard zone of KW_GUARD_BYTES directly before its first and directly behind
 * its last byte, filled with one byte value and compared afterwards. Memory is reached through the backend only, in pieces of
 * KW_PIECE_BYTES (large enough that a copy costs more than its call), so that nothing here assumes that the host can address it. */
#ifndef KW_MEASURE_DATA_BUFFERS_H
#define KW_MEASURE_DATA_BUFFERS_H

#include "backend/backend.h"

enum { KW_GUARD_BYTES = 4096, KW_PIECE_BYTES = 1 << 20, KW_BUFFER_ALIGN = 64 };

/* A zeroed kw_buffer is closed. start is what kernels get; size may be 0, then start lies between the two guards. */
typedef struct kw_buffer {
    const kw_backend *backend;
    kw_device *device;
    const char *name; /* for messages: "y", "packed weights" */
    char *memory, *start;
    int64_t size;
    unsigned char fill; /* what the guards hold now */
} kw_buffer;

/* shift (below KW_BUFFER_ALIGN) moves start off its 64-byte alignment, to show kernels that demand more than their types'. */
kw_status kw_buffer_open(kw_buffer *buffer, const kw_backend *backend, kw_device *device, const char *name, int64_t size, kw_error *err);
void kw_buffer_close(kw_buffer *buffer);
void kw_buffer_shift(kw_buffer *buffer, int shift);
/* Fills the guards with byte. */
kw_status kw_buffer_guard(kw_buffer *buffer, unsigned char byte, kw_error *err);
/* Fills all of the contents with byte. */
kw_status kw_buffer_poison(kw_buffer *buffer, unsigned char byte, kw_error *err);
kw_status kw_buffer_write(kw_buffer *buffer, const void *from, kw_error *err);
/* size bytes from offset on. */
kw_status kw_buffer_read(const kw_buffer *buffer, int64_t offset, void *to, size_t size, kw_error *err);
/* KW_FAILED when a guard was written; the message names buffer, side and the nearest stray's offset. */
kw_status kw_buffer_intact(const kw_buffer *buffer, kw_error *err);
/* A hash of the contents. */
kw_status kw_buffer_hash(const kw_buffer *buffer, uint64_t *hash, kw_error *err);

#endif
