/* holdout.c: reading problem lists into an array. */
#include "learn/data/split/holdout.h"

#include "base/container/array.h"

#include <kernelwright_tune.h>

#include <stdlib.h>

static bool add_holdout_problem(void *user, const char *name, const kw_problem *problem) {
    kw_holdout *holdout = user;
    (void)name;
    if (!KW_ARRAY_RESERVE(holdout->problems, holdout->capacity, holdout->count + 1)) {
        holdout->failed = true;
        return false;
    }
    holdout->problems[holdout->count++] = *problem;
    return true;
}

kw_status kw_holdout_read(kw_holdout *holdout, const char *const *lists, size_t count, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < count && !status; i++) {
        size_t before = holdout->count;
        status = kw_problems_visit(lists[i], KW_OP_COUNT, KW_FP32, add_holdout_problem, holdout, err);
        if (!status && holdout->failed) {
            status = kw_fail_memory(err, "held-out problems");
        }
        if (!status && holdout->count == before) {
            status = kw_fail(err, KW_ILLEGAL, "the holdout list %.200s has no problem, so it would say nothing", lists[i]);
        }
    }
    if (status) {
        kw_holdout_drop(holdout);
    }
    return status;
}

void kw_holdout_drop(kw_holdout *holdout) {
    free(holdout->problems);
    *holdout = (kw_holdout){0};
}
