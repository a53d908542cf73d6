/* special_values.c: see the header. An infinity or NaN reaches, besides the results in whose sums it stands, no more than those whose kernel
 * multiplied zeros by it that stand for padding or for other groups: special_is_near says which. */
#include "check/special_values.h"

#include "base/statistics/random.h"
#include "config/arch/isa.h"
#include "measure/bench.h"
#include "problem/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, PLANTED = 2, DENORMALS = 3 /* the round that has these instead of infinities and NaNs */ };

/* One round. The tensors on the host; which elements of those that are read are infinite or NaN; of each element of the result the sum by
 * the definition, that of magnitudes, and the number of terms. */
typedef struct special_run {
    const kw_problem *problem;
    bool joins; /* a kernel may multiply several groups at once */
    kw_tensor result;
    void *tensor[KW_TENSOR_COUNT];
    bool *odd[KW_TENSOR_COUNT];
    int64_t elements[KW_TENSOR_COUNT];
    double *wanted, *magnitude;
    int64_t *products;
} special_run;

struct special_values {
    kw_bench *bench;
    special_run run[ROUNDS];
};

/* --- data --- */

static double least_normal(kw_dtype dtype) {
    static const int exponents[KW_DTYPE_COUNT] = {[KW_FP32] = -126, [KW_BF16] = -126, [KW_FP16] = -14, [KW_FP8] = -6, [KW_BF8] = -14};
    return ldexp(1, exponents[dtype]);
}

static double draw_special(uint64_t *random, kw_dtype dtype, bool denormals) {
    double value = (double)kw_random_below(random, 5) - 2;
    if (denormals && kw_random_below(random, 3)) {
        value *= least_normal(dtype) / 4;
    }
    return value != 0 ? value : kw_random_below(random, 2) ? 0.0 : -0.0;
}

/* Rounds 0 and 1 have infinities and NaNs in the one tensor or the other, round 2 in both. */
static void fill_special(special_run *run, int round, uint64_t *random) {
    static const double odd[] = {INFINITY, -INFINITY, NAN};
    int place = 0;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        if (t == (int)run->result) {
            continue;
        }
        for (int64_t i = 0; i < run->elements[t]; i++) {
            kw_dtype_store(run->problem->dtype, run->tensor[t], i, draw_special(random, run->problem->dtype, round == DENORMALS));
        }
        memset(run->odd[t], 0, (size_t)run->elements[t]);
        for (int p = 0; p < PLANTED && round != DENORMALS && (round == 2 || round == place); p++) {
            int64_t at = (int64_t)kw_random_below(random, (uint64_t)run->elements[t]);
            kw_dtype_store(run->problem->dtype, run->tensor[t], at, odd[kw_random_below(random, sizeof odd / sizeof *odd)]);
            run->odd[t][at] = true;
        }
        place++;
    }
}

/* --- judging --- */

/* The place of an element among the channels of its tensor: outer is the group's for w, whose channels are its output channels. */
typedef struct special_place {
    int64_t outer, inner;
} special_place;

static special_place place_in_image(const kw_problem *problem, kw_tensor tensor, int64_t index) {
    const kw_conv_dims *d = &problem->conv;
    int64_t channels = tensor == KW_X ? d->c : d->k, pixels = d->in[0] * d->in[1] * d->in[2], out[3];
    if (tensor == KW_Y) {
        kw_problem_output(out, problem);
        pixels = out[0] * out[1] * out[2];
    }
    int64_t channel = (problem->layout == KW_CHANNELS_FIRST ? index / pixels : index) % channels, of_group = channels / d->g;
    return (special_place){channel / of_group, channel % of_group};
}

/* outer: group and output channel together; inner: the input channel within the group. */
static special_place place_in_weights(const kw_problem *problem, int64_t index) {
    const kw_conv_dims *d = &problem->conv;
    int64_t c = d->c / d->g, taps = d->filter[0] * d->filter[1] * d->filter[2];
    return (special_place){index / (c * taps), (problem->layout == KW_CHANNELS_FIRST ? index / taps : index) % c};
}

/* Whether a kernel that multiplies the zeros of padding meets an infinity or NaN there: one in the weights of the element's channel; for
 * the weights' own gradient one in the element's channel of either image. A product of matrices has no padding. */
static bool special_in_padding(const special_run *run, int64_t index) {
    const kw_problem *problem = run->problem;
    bool near = false;
    int64_t k = problem->conv.k / problem->conv.g;
    special_place at = problem->op == KW_CONV_BWD_WEIGHT ? place_in_weights(problem, index) : place_in_image(problem, run->result, index);
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        for (int64_t i = 0; t != (int)run->result && i < run->elements[t] && !near; i++) {
            if (!run->odd[t][i]) {
                continue;
            }
            if (problem->op == KW_CONV_BWD_WEIGHT) {
                special_place image = place_in_image(problem, (kw_tensor)t, i);
                near = image.outer == at.outer / k && image.inner == (t == KW_X ? at.inner : at.outer % k);
            } else if (t == KW_W) {
                special_place weight = place_in_weights(problem, i);
                near = problem->op == KW_CONV_FWD ? weight.outer == at.outer * k + at.inner
                                                  : weight.outer / k == at.outer && weight.inner == at.inner;
            }
        }
    }
    return near;
}

/* Whether a kernel that multiplies several groups at once, with zeros between them, meets one in another group: the result's same pixel
 * has it there. */
static bool special_in_another_group(const special_run *run, int64_t index) {
    const kw_problem *problem = run->problem;
    int64_t channels = run->result == KW_X ? problem->conv.c : problem->conv.k;
    int64_t pixels = run->elements[run->result] / problem->conv.n / channels;
    int64_t step = problem->layout == KW_CHANNELS_FIRST ? pixels : 1, first = index - index / step % channels * step;
    bool near = false;
    for (int64_t i = 0; i < channels && !near; i++) {
        near = !isfinite(run->magnitude[first + i * step]);
    }
    return near;
}

static bool special_is_near(const special_run *run, int64_t index) {
    return run->problem->op != KW_GEMM &&
           (special_in_padding(run, index) || (run->joins && run->result != KW_W && special_in_another_group(run, index)));
}

static double rounded_to(kw_dtype dtype, double value) {
    unsigned char memory[8] = {0};
    kw_dtype_store(dtype, memory, 0, value);
    return kw_dtype_load(dtype, memory, 0);
}

/* Numbers are small integers, whose sums are exact; denormals are worth less than the least normal number each, whether they count or not. */
static bool judge_special(const special_run *run, int round, int64_t index, double got, special_tally *tally) {
    kw_dtype dtype = run->problem->dtype, output = kw_problem_dtype(run->problem, run->result);
    double wanted = run->wanted[index];
    bool whole = output == KW_INT8 || output == KW_UINT8, none = whole ? got == 0 : isnan(got); /* whole: what is no number is 0 */
    if (whole) {
        wanted = isnan(wanted) ? wanted : rounded_to(output, wanted);
    }
    if (round == DENORMALS) {
        double allowed = 2 * (double)run->products[index] * least_normal(dtype) + fabs(wanted) * ldexp(1, -8) + whole;
        tally->denormal++;
        tally->flushed += got != rounded_to(output, wanted);
        return fabs(got - wanted) <= allowed;
    }
    if (!isfinite(run->magnitude[index])) {
        bool kept = isnan(wanted) ? none : got == wanted;
        tally->kept += kept;
        tally->turned += !kept;
        return kept || none;
    }
    bool right = got == rounded_to(output, wanted);
    tally->finite += right;
    tally->spread += !right;
    return right || (none && special_is_near(run, index));
}

/* --- running --- */

static kw_status run_special(kw_prepared *ready, special_run *run, int round, kw_error *err) {
    kw_status status = KW_OK;
    for (int t = 0; t < KW_TENSOR_COUNT && !status; t++) {
        if (t != (int)run->result) {
            status = kw_buffer_write(&ready->bench->set[KW_SET_EXACT].tensor[t], run->tensor[t], err);
        }
    }
    kw_buffer *result = &ready->bench->result;
    status = status ? status : kw_buffer_poison(result, 0x7f, err);
    if (!status && round % 2 && ready->packs) {
        status = kw_prepared_run(ready, KW_SET_EXACT, KW_RUN_PACK, true, err);
        status = status ? status : kw_prepared_run(ready, KW_SET_EXACT, KW_RUN_REST, false, err);
    } else if (!status) {
        status = kw_prepared_run(ready, KW_SET_EXACT, KW_RUN_ALL, true, err);
    }
    size_t size = kw_dtype_size(kw_problem_dtype(run->problem, run->result)) * (size_t)run->elements[run->result];
    return status ? status : kw_buffer_read(result, 0, run->tensor[run->result], size, err);
}

static kw_status check_round(kw_prepared *ready, special_run *run, int round, special_tally *tally, kw_error *err) {
    kw_status status = run_special(ready, run, round, err);
    for (int64_t i = 0; i < run->elements[run->result] && !status; i++) {
        double got = kw_dtype_load(kw_problem_dtype(run->problem, run->result), run->tensor[run->result], i);
        if (!judge_special(run, round, i, got, tally)) {
            char name[128];
            kw_element_name(name, run->problem, run->result, i);
            status = kw_fail(err, KW_FAILED, "special values, round %d: %s is %g, should be %g", round, name, got, run->wanted[i]);
        }
    }
    return status;
}

kw_status special_values_check(special_values *values, const kw_kernel *kernel, const kw_config *config, special_tally *tally,
                               kw_error *err) {
    kw_record record = {0};
    kw_prepared ready;
    kw_status status = KW_OK;
    bool gpu = kw_target_is_gpu(values->bench->backend->target(values->bench->device));
    bool joins = gpu || kw_config_axis(config, "math", KW_MATH_FMA) == KW_MATH_AMX;
    kw_prepared_open(&ready, values->bench, kernel, config, KW_TEAM_ALL, &record);
    if (!ready.bound) {
        return kw_fail(err, KW_FAILED, "not launched: %.200s", record.detail);
    }
    for (int round = 0; round < ROUNDS && !status; round++) {
        values->run[round].joins = joins;
        status = check_round(&ready, &values->run[round], round, tally, err);
    }
    kw_prepared_close(&ready);
    return status;
}

/* --- opening --- */

static kw_status open_round(special_run *run, const kw_bench *bench, int round, kw_error *err) {
    uint64_t random = 11 + (uint64_t)round;
    bool whole = true;
    run->problem = &bench->problem;
    run->result = kw_problem_result(&bench->problem);
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        run->elements[t] = kw_problem_elements(run->problem, (kw_tensor)t);
        run->tensor[t] = calloc((size_t)run->elements[t], sizeof(double));
        run->odd[t] = calloc((size_t)run->elements[t], sizeof(bool));
        whole &= run->tensor[t] && run->odd[t];
    }
    size_t count = (size_t)run->elements[run->result];
    run->wanted = calloc(count, sizeof *run->wanted);
    run->magnitude = calloc(count, sizeof *run->magnitude);
    run->products = calloc(count, sizeof *run->products);
    if (!whole || !run->wanted || !run->magnitude || !run->products) {
        return kw_fail_memory(err, "special values");
    }
    fill_special(run, round, &random);
    for (size_t i = 0; i < count; i++) {
        run->wanted[i] = kw_reference_at(run->problem, (const void *const *)run->tensor, (kw_zeros){0}, (int64_t)i, &run->products[i],
                                         &run->magnitude[i]);
    }
    return KW_OK;
}

kw_status special_values_open(special_values **values, kw_bench *bench, kw_error *err) {
    special_values *made = calloc(1, sizeof *made);
    kw_status status = made ? KW_OK : kw_fail_memory(err, "special values");
    if (made) {
        made->bench = bench;
    }
    for (int round = 0; round < ROUNDS && !status; round++) {
        status = open_round(&made->run[round], bench, round, err);
    }
    if (status) {
        special_values_close(&made);
    }
    *values = made;
    return status;
}

void special_values_close(special_values **values) {
    special_values *closing = *values;
    *values = NULL;
    for (int round = 0; closing && round < ROUNDS; round++) {
        special_run *run = &closing->run[round];
        for (int t = 0; t < KW_TENSOR_COUNT; t++) {
            free(run->tensor[t]);
            free(run->odd[t]);
        }
        free(run->wanted);
        free(run->magnitude);
        free(run->products);
    }
    for (int t = 0; closing && t < KW_TENSOR_COUNT; t++) {
        if (closing->bench->set[KW_SET_EXACT].tensor[t].memory) {
            kw_bench_restore(closing->bench, KW_SET_EXACT, (kw_tensor)t, NULL);
        }
    }
    free(closing);
}
