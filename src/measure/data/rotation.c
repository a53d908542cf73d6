/* rotation.c: see rotation.h. Copies lie 64 bytes apart at least and have no guards of their own: what runs on them was verified before. */
#include "measure/data/rotation.h"

#include "base/math.h"

static const int64_t common_cache = 32 << 20;

int64_t kw_rotation_cache_bytes(const kw_target *target) {
    return target->l3 > 0 ? target->l3 : target->l2 > 0 ? target->l2 : common_cache;
}

size_t kw_rotation_count(int64_t set, int64_t cache, int64_t limit) {
    set = kw_max(1, set);
    if (set / 2 >= cache) {
        return 1;
    }
    return (size_t)kw_max(2, kw_min(kw_ceil_div(2 * cache, set), limit / set));
}

kw_status kw_rotation_fill(kw_buffer *copies, int64_t *step, const kw_buffer *from, size_t count, kw_error *err) {
    bool good = true;
    *step = kw_round_up(kw_max(1, from->size), KW_BUFFER_ALIGN);
    int64_t whole = kw_mul(*step, (int64_t)count, &good);
    if (!good) {
        return kw_fail(err, KW_NO_MEMORY, "%s: %zu copies are more than a process can have", from->name, count);
    }
    kw_status status = kw_buffer_open(copies, from->backend, from->device, from->name, whole, err);
    for (size_t i = 0; i < count && !status; i++) {
        status = from->backend->copy(from->device, copies->start + (int64_t)i * *step, from->start, (size_t)from->size, err);
    }
    return status;
}

void kw_rotation_close(kw_rotation *copies) {
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        kw_buffer_close(&copies->tensor[tensor]);
    }
    *copies = (kw_rotation){0};
}
