/* rotation.h: many copies of a bench's real tensors, for calls that find nothing of theirs in the caches. Whoever runs on copy after copy,
 * round and round, touches each again only after all the others. */
#ifndef KW_MEASURE_DATA_ROTATION_H
#define KW_MEASURE_DATA_ROTATION_H

#include "measure/data/buffers.h"

/* One buffer for each tensor, the result's too, with count copies step bytes apart. A zeroed one is closed. */
typedef struct kw_rotation {
    size_t count;
    kw_buffer tensor[KW_TENSOR_COUNT];
    int64_t step[KW_TENSOR_COUNT];
} kw_rotation;

/* How many copies of set bytes each take twice the last-level cache: 1 when a set does alone, else at least 2, and no more than fit limit.
 */
size_t kw_rotation_count(int64_t set, int64_t cache, int64_t limit);
/* The last-level cache of a target; a common size where it is not known. */
int64_t kw_rotation_cache_bytes(const kw_target *target);

/* Count copies of what the buffer from holds. */
kw_status kw_rotation_fill(kw_buffer *copies, int64_t *step, const kw_buffer *from, size_t count, kw_error *err);
void kw_rotation_close(kw_rotation *copies);

#endif
