/* sample.c: drawing problems from a list so that few of them cover much. Buckets are cut by a key in text; within a bucket and between
 * buckets the order is that of seeded hashes, so that a draw depends on what the list holds and not on its order, and no generator's state is
 * carried along. Two buckets whose 64-bit hashes agree would be one bucket: harmless. */
#include "base/sized.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/status.h"
#include "space/problems/family_key.h"

#include <kernelwright_tune.h>

#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 400 };

static void size_key(kw_line *key, const kw_problem *problem) {
    if (problem->op == KW_GEMM) {
        const kw_gemm_dims *gemm = &problem->gemm;
        kw_line_addf(key, "%lld %lld %lld", (long long)(gemm->m / 64), (long long)(gemm->n / 64), (long long)(gemm->k / 64));
        return;
    }
    const kw_conv_dims *conv = &problem->conv;
    kw_line_addf(key, "%s %lld %lld %lld", kw_op_name(problem->op), (long long)(conv->c / 64), (long long)(conv->k / 64),
                 (long long)conv->g);
    for (int axis = 0; axis < 3; axis++) {
        kw_line_addf(key, " %lld %lld %lld", (long long)conv->in[axis], (long long)conv->filter[axis], (long long)conv->stride[axis]);
    }
}

/* A problem that may be drawn. */
typedef struct ticket {
    uint64_t bucket, order;
    size_t rank; /* within the bucket */
    size_t position;
} ticket;

static uint64_t seeded(uint64_t seed, const char *kind, const char *text) {
    char line[KW_PROBLEM_TEXT_MAX + 64];
    kw_line out = {.data = line, .capacity = sizeof line};
    kw_line_addf(&out, "%llu %s %s", (unsigned long long)seed, kind, text);
    return kw_hash64(line, strlen(line));
}

static ticket make_ticket(const kw_problem *problem, size_t position, const kw_sample_options *options) {
    char text[KW_PROBLEM_TEXT_MAX], key[KEY_SIZE];
    kw_line line = {.data = key, .capacity = sizeof key};
    (options->buckets == KW_BUCKETS_SIZE ? size_key : kw_family_key)(&line, problem);
    kw_problem_print(text, sizeof text, problem);
    return (ticket){.bucket = seeded(options->seed, "bucket", key), .order = seeded(options->seed, "problem", text), .position = position};
}

static int by_bucket_rank(const void *left, const void *right) {
    const ticket *a = left, *b = right;
    int order = kw_order_uint(a->bucket, b->bucket);
    order = order ? order : kw_order_uint(a->order, b->order);
    return order ? order : kw_order_uint(a->position, b->position);
}

static int by_rank(const void *left, const void *right) {
    const ticket *a = left, *b = right;
    int order = kw_order_uint(a->rank, b->rank);
    return order ? order : by_bucket_rank(left, right);
}

/* Numbers the tickets of each bucket and puts them in the order of drawing. */
static void put_in_order(ticket *tickets, size_t count) {
    if (!count) {
        return;
    }
    qsort(tickets, count, sizeof *tickets, by_bucket_rank);
    for (size_t i = 1; i < count; i++) {
        tickets[i].rank = tickets[i].bucket == tickets[i - 1].bucket ? tickets[i - 1].rank + 1 : 0;
    }
    qsort(tickets, count, sizeof *tickets, by_rank);
}

static bool is_within_sample_limits(const kw_sample_options *options, const kw_problem *problem) {
    return (!(options->max_gflop > 0) || (double)kw_problem_flops(problem) <= options->max_gflop * 1e9) &&
           (!(options->max_mb > 0) || (double)kw_problem_bytes(problem) <= options->max_mb * 1e6);
}

kw_status kw_problems_sample(size_t *chosen, size_t *chosen_count, const kw_problem *problems, size_t count,
                             const kw_sample_options *options, kw_error *err) {
    if (!chosen_count || !options || (count && (!chosen || !problems))) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_sample: an argument is NULL");
    }
    *chosen_count = 0;
    kw_sample_options own;
    kw_status status = KW_SIZED_READ(&own, kw_sample_options, seed, options, err);
    if (status) {
        return status;
    }
    options = &own;
    status = kw_problems_deduplicate(chosen, NULL, problems, count, err);
    ticket *tickets = status ? NULL : calloc(count ? count : 1, sizeof *tickets);
    if (!status && !tickets) {
        status = kw_fail_memory(err, "a sample of problems");
    }
    size_t drawable = 0;
    for (size_t i = 0; i < count && !status; i++) {
        status = kw_problem_check(&problems[i], err);
        if (status) {
            break;
        }
        if (chosen[i] == i && is_within_sample_limits(options, &problems[i])) {
            tickets[drawable++] = make_ticket(&problems[i], i, options);
        }
    }
    if (!status) {
        put_in_order(tickets, drawable);
    }
    for (size_t i = 0; i < drawable && !status; i++) {
        bool enough =
            (options->count && *chosen_count == options->count) || (options->per_bucket && tickets[i].rank >= options->per_bucket);
        if (enough) {
            break; /* ranks only rise */
        }
        chosen[(*chosen_count)++] = tickets[i].position;
    }
    free(tickets);
    return status;
}
