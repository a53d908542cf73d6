/* verify.c: is a kernel right on a problem?
 *
 * Two checked runs. First integers: all stages in one go, tensors off the 64-byte alignment, poison 0xff. Then real data, aligned,
 * poison 0x7f: where the kernel packs weights, packing apart, then a run that sees poison in place of w, as a plan with packed weights
 * does. Before each run the guards, the result and all workspace are filled with the poison, so nothing can be left over from an earlier
 * run, and memory read out of bounds or before it is written yields NaN or a huge number. No legal result equals the poison: both bytes
 * make NaN or 3.4e38 of a float; of an int32 0xff would make -1, so 0x80 takes its place. */
#include "measure/bench.h"

#include "base/math.h"
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kw_status prepare_check(kw_prepared *ready, int set, unsigned char byte, kw_error *err) {
    kw_bench *bench = ready->bench;
    kw_tensor result = kw_problem_result(&bench->problem);
    kw_buffer_shift(&bench->result, kw_bench_shift(bench, set, result));
    kw_buffer *poisoned[] = {&bench->result, &ready->packed, &ready->shared, &ready->threads};
    kw_status status = KW_OK;
    for (size_t i = 0; i < sizeof poisoned / sizeof *poisoned && !status; i++) {
        status = kw_buffer_guard(poisoned[i], byte, err);
        status = status ? status : kw_buffer_poison(poisoned[i], byte, err);
    }
    for (int tensor = 0; tensor < KW_TENSOR_COUNT && !status; tensor++) {
        if (bench->set[set].tensor[tensor].memory) {
            status = kw_buffer_guard(&bench->set[set].tensor[tensor], byte, err);
        }
    }
    for (int i = 0; i < KW_EXTRA_MAX && !status; i++) {
        if (bench->set[set].extra[i].memory) {
            status = kw_buffer_guard(&bench->set[set].extra[i], byte, err);
        }
    }
    if (!status && bench->set[set].bias.channels) {
        status = kw_buffer_poison(&bench->set[set].extra[0], byte, err);
    }
    if (!status && bench->set[set].ends.memory) {
        status = kw_buffer_guard(&bench->set[set].ends, byte, err);
    }
    return status;
}

static kw_status check_guards(const kw_prepared *ready, int set, kw_error *err) {
    const kw_bench *bench = ready->bench;
    const kw_buffer *buffers[] = {&bench->result,
                                  &ready->packed,
                                  &ready->shared,
                                  &ready->threads,
                                  &bench->set[set].tensor[KW_X],
                                  &bench->set[set].tensor[KW_W],
                                  &bench->set[set].tensor[KW_Y],
                                  &bench->set[set].ends};
    kw_status status = KW_OK;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers && !status; i++) {
        status = buffers[i]->memory ? kw_buffer_intact(buffers[i], err) : KW_OK;
    }
    for (int i = 0; i < KW_EXTRA_MAX && !status; i++) {
        const kw_buffer *extra = &bench->set[set].extra[i];
        status = extra->memory ? kw_buffer_intact(extra, err) : KW_OK;
    }
    return status;
}

/* Between the threads' parts of the thread workspace lie guards too; poisoning filled them with the rest. */
static kw_status check_thread_gaps(const kw_prepared *ready, unsigned char byte, kw_error *err) {
    unsigned char gap[KW_GUARD_BYTES + KW_BUFFER_ALIGN];
    int64_t used = ready->launch.thread_bytes;
    size_t size = (size_t)(ready->thread_step - used);
    for (int64_t at = used; at < ready->threads.size; at += ready->thread_step) {
        kw_status status = kw_buffer_read(&ready->threads, at, gap, size, err);
        if (status) {
            return status;
        }
        for (size_t i = 0; i < size; i++) {
            if (gap[i] != byte) {
                return kw_fail(err, KW_FAILED, "thread workspace: thread %lld wrote at byte %lld, %zu past its end",
                               (long long)(at / ready->thread_step), (long long)used + (long long)i, i + 1);
            }
        }
    }
    return KW_OK;
}

static kw_status check_inputs_intact(const kw_prepared *ready, int set, kw_error *err) {
    const kw_bench_set *data = &ready->bench->set[set];
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        uint64_t hash = 0;
        if (!data->tensor[tensor].memory) {
            continue;
        }
        kw_status status = kw_buffer_hash(&data->tensor[tensor], &hash, err);
        if (status) {
            return status;
        }
        if (hash != data->hash[tensor]) {
            status = kw_bench_restore(ready->bench, set, (kw_tensor)tensor, err);
            return status ? status : kw_fail(err, KW_FAILED, "%s: changed, though it is only to be read", data->tensor[tensor].name);
        }
    }
    for (int i = data->bias.channels > 0; i < KW_EXTRA_MAX && data->extra[i].memory; i++) {
        uint64_t hash = 0;
        kw_status status = kw_buffer_hash(&data->extra[i], &hash, err);
        if (status) {
            return status;
        }
        if (hash != data->extra_hash[i]) {
            return kw_fail(err, KW_FAILED, "%s: changed, though it is only to be read", data->extra[i].name);
        }
    }
    if (data->ends.memory) {
        uint64_t hash = 0;
        kw_status status = kw_buffer_hash(&data->ends, &hash, err);
        return status || hash == data->ends_hash ? status : kw_fail(err, KW_FAILED, "ends: changed, though it is only to be read");
    }
    return KW_OK;
}

static kw_status check_result(const kw_prepared *ready, int set, unsigned char byte, kw_comparison *seen, kw_error *err) {
    const kw_bench *bench = ready->bench;
    kw_tensor result = kw_problem_result(&bench->problem);
    int64_t width = (int64_t)kw_dtype_size(kw_problem_dtype(&bench->problem, result));
    int64_t elements = kw_problem_elements(&bench->problem, result), step = KW_PIECE_BYTES / width;
    unsigned char *piece = malloc((size_t)(kw_min(step, elements) * width) + 1);
    if (!piece) {
        return kw_fail_memory(err, "a piece of a result");
    }
    *seen = (kw_comparison){.expected = &bench->set[set].expected, .sum_error = ready->sum_error, .poison = byte};
    kw_status status = KW_OK;
    for (int64_t first = 0; first < elements && !status; first += step) {
        int64_t count = kw_min(step, elements - first);
        status = kw_buffer_read(&bench->result, first * width, piece, (size_t)(count * width), err);
        if (!status) {
            kw_compare(seen, piece, first, count);
        }
    }
    free(piece);
    return status ? status : kw_comparison_check(seen, err);
}

/* Guards first: a stray write explains a wrong value, not the other way round. */
kw_status kw_prepared_check(kw_prepared *ready, int set, unsigned char byte, bool packed_apart, kw_comparison *seen, kw_error *err) {
    kw_comparison unseen = {0};
    seen = seen ? seen : &unseen;
    *seen = unseen;
    kw_status status = prepare_check(ready, set, byte, err);
    if (!status && packed_apart && ready->packs) {
        status = kw_prepared_run(ready, set, KW_RUN_PACK, true, err);
        status = status ? status : kw_prepared_run(ready, set, KW_RUN_REST, false, err);
    } else if (!status) {
        status = kw_prepared_run(ready, set, KW_RUN_ALL, true, err);
    }
    status = status ? status : check_guards(ready, set, err);
    status = status ? status : check_thread_gaps(ready, byte, err);
    status = status ? status : check_inputs_intact(ready, set, err);
    status = status ? status : check_result(ready, set, byte, seen, err);
    const kw_bench_set *data = &ready->bench->set[set];
    return status ? status : kw_expected_bias_check(&data->bias, &data->extra[0], err);
}

static unsigned char poison_byte(const kw_bench *bench, int set) {
    kw_dtype output = kw_problem_dtype(&bench->problem, kw_problem_result(&bench->problem));
    return set == KW_SET_REAL ? 0x7f : output == KW_INT32 ? 0x80 : 0xff;
}

kw_status kw_bench_verify(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_record *record, kw_error *err) {
    static const char *const set_names[KW_SET_COUNT] = {"integer data", "real data"};
    *record = (kw_record){.outcome = KW_GOOD};
    kw_config_print(record->config, sizeof record->config, config);
    kw_prepared ready;
    kw_prepared_open(&ready, bench, kernel, config, KW_TEAM_ALL, record);
    if (!ready.bound) {
        return KW_OK;
    }
    record->workspace = kw_prepared_workspace(&ready, false);
    kw_status status = KW_OK;
    kw_error why = {0};
    for (int set = 0; set < KW_SET_COUNT && !status; set++) {
        kw_comparison seen;
        status = kw_prepared_check(&ready, set, poison_byte(bench, set), set == KW_SET_REAL, &seen, &why);
        record->error = set == KW_SET_REAL ? seen.error : 0;
        record->ulp = set == KW_SET_REAL ? seen.ulp : 0;
        if (status == KW_FAILED) {
            record->outcome = KW_WRONG;
            snprintf(record->detail, sizeof record->detail, "%s: %.230s", set_names[set], why.text);
        }
    }
    const kw_expected *expected = &bench->set[KW_SET_EXACT].expected;
    if (!status && !kw_expected_trusted(expected)) {
        record->outcome = KW_MISTRUSTED;
        snprintf(record->detail, sizeof record->detail, "only %zu of %zu expected values that could differ from zero do", expected->nonzero,
                 expected->possible);
    }
    kw_prepared_close(&ready);
    return status == KW_OK || status == KW_FAILED ? KW_OK : kw_fail(err, status, "%s", why.text);
}
