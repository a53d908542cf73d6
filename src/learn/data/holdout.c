/* holdout.c: reading problem lists into an array. */
#include "learn/data/holdout.h"

#include <kernelwright_tune.h>

#include <stdlib.h>

static bool take(void *user, const char *name, const kw_problem *problem) {
    kw_sealed *sealed = user;
    (void)name;
    if (sealed->count == sealed->capacity) {
        size_t larger = sealed->capacity ? 2 * sealed->capacity : 256;
        kw_problem *moved = realloc(sealed->problems, larger * sizeof *moved);
        if (!moved) {
            sealed->failed = true;
            return false;
        }
        sealed->problems = moved;
        sealed->capacity = larger;
    }
    sealed->problems[sealed->count++] = *problem;
    return true;
}

kw_status kw_sealed_read(kw_sealed *sealed, const char *const *lists, size_t count, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < count && !status; i++) {
        size_t before = sealed->count;
        status = kw_problems_visit(lists[i], KW_OP_COUNT, KW_FP32, take, sealed, err);
        if (!status && sealed->failed) {
            status = kw_fail_memory(err, "sealed problems");
        }
        if (!status && sealed->count == before) {
            status = kw_fail(err, KW_ILLEGAL, "the sealed list %.200s has no problem, so it would say nothing", lists[i]);
        }
    }
    if (status) {
        kw_sealed_drop(sealed);
    }
    return status;
}

void kw_sealed_drop(kw_sealed *sealed) {
    free(sealed->problems);
    *sealed = (kw_sealed){0};
}
