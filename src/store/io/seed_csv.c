/* seed_csv.c: see seed_csv.h. */
#include "store/io/seed_csv.h"

#include "base/format/csv.h"
#include "base/format/number.h"
#include "problem/names/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    KERNEL,
    INDEX,
    N,
    C,
    K,
    G,
    DI,
    HI,
    WI,
    Z,
    Y,
    X,
    STRIDE,
    PAD = STRIDE + 3,
    DILATION = PAD + 3,
    LATENCY = DILATION + 3,
    TFLOPS,
    NON_ZERO
};

static const struct {
    const char *name;
    bool newer;       /* not among the 17 older columns */
    int64_t low;      /* least value of a size */
    int64_t fallback; /* of a newer size where it is missing */
} columns[KW_SEED_COLUMNS] = {
    [KERNEL] = {"kernel", false, 0, 0},
    [INDEX] = {"problem_idx", false, 0, 0},
    [N] = {"N", false, 1, 0},
    [C] = {"C", false, 1, 0},
    [K] = {"K", false, 1, 0},
    [G] = {"G", false, 1, 0},
    [DI] = {"Di", true, 1, 1},
    [HI] = {"Hi", false, 1, 0},
    [WI] = {"Wi", false, 1, 0},
    [Z] = {"Z", true, 1, 1},
    [Y] = {"Y", false, 1, 0},
    [X] = {"X", false, 1, 0},
    [STRIDE] = {"stride_d", true, 1, 1},
    {"stride_h", false, 1, 0},
    {"stride_w", false, 1, 0},
    [PAD] = {"pad_d", true, 0, 0},
    {"pad_h", false, 0, 0},
    {"pad_w", false, 0, 0},
    [DILATION] = {"dilation_d", true, 1, 1},
    {"dilation_h", true, 1, 1},
    {"dilation_w", true, 1, 1},
    [LATENCY] = {"latency_ms", false, 0, 0},
    [TFLOPS] = {"tflops", false, 0, 0},
    [NON_ZERO] = {"non_zero", false, 0, 0},
};

static double seed_flops(const kw_conv_dims *conv, const kw_problem *problem) {
    int64_t out[3];
    kw_problem_output(out, problem);
    double flops = 2 * (double)conv->n * (double)conv->k * ((double)conv->c / (double)conv->g);
    for (int axis = 0; axis < 3; axis++) {
        flops *= (double)out[axis] * (double)conv->filter[axis];
    }
    return flops;
}

void kw_seed_add_header(kw_text *text) {
    for (int i = 0; i < KW_SEED_COLUMNS; i++) {
        kw_csv_add(text, columns[i].name, i == 0);
    }
    kw_text_add(text, "\n");
}

bool kw_seed_holds(const kw_problem *problem) {
    return problem->op != KW_GEMM && !memcmp(problem->conv.pad, problem->conv.pad_back, sizeof problem->conv.pad);
}

void kw_seed_add_row(kw_text *text, const kw_row *row, const kw_problem *problem, int64_t problem_index) {
    const kw_conv_dims *conv = &problem->conv;
    const kw_record *record = &row->record;
    const int64_t sizes[] = {problem_index, conv->n, conv->c, conv->k, conv->g};
    const int64_t *const triples[] = {conv->in, conv->filter, conv->stride, conv->pad, conv->dilation};
    kw_csv_add_guarded(text, record->config, true);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        kw_text_addf(text, ",%lld", (long long)sizes[i]);
    }
    for (size_t i = 0; i < 3 * sizeof triples / sizeof *triples; i++) {
        kw_text_addf(text, ",%lld", (long long)triples[i / 3][i % 3]);
    }
    bool timed = record->time_ns > 0 && (record->outcome == KW_GOOD || record->outcome == KW_SLOW || record->outcome == KW_MISTRUSTED);
    if (!timed) {
        kw_text_add(text, ",N/A,0,0\n");
        return;
    }
    char latency[KW_NUMBER_TEXT], tflops[KW_NUMBER_TEXT];
    double ms = record->time_ns / 1e6;
    kw_number_print(latency, ms);
    kw_number_print(tflops, seed_flops(conv, problem) / (ms * 1e9));
    long long written = record->outcome == KW_MISTRUSTED ? 0 : (long long)kw_problem_elements(problem, kw_problem_result(problem));
    kw_text_addf(text, ",%s,%s,%lld\n", latency, tflops, written);
}

bool kw_seed_header_read(kw_seed_header *header, const kw_csv_record *cells) {
    int found = 0, newer = 0;
    for (int i = 0; i < KW_SEED_COLUMNS; i++) {
        header->cell[i] = -1;
        for (int j = 0; j < cells->count; j++) {
            if (kw_word_is(cells->cell[j], columns[i].name)) {
                header->cell[i] = j;
            }
        }
        found += header->cell[i] >= 0;
        newer += header->cell[i] >= 0 && columns[i].newer;
        if (header->cell[i] < 0 && !columns[i].newer) {
            return false;
        }
    }
    header->count = cells->count;
    return found == cells->count && (newer == 0 || found == KW_SEED_COLUMNS);
}

static kw_status read_seed_sizes(kw_problem *problem, const kw_seed_header *header, const kw_csv_record *cells, kw_error *err) {
    kw_conv_dims *conv = &problem->conv;
    int64_t *const fields[] = {&conv->n, &conv->c, &conv->k, &conv->g};
    int64_t *const triples[] = {conv->in, conv->filter, conv->stride, conv->pad, conv->dilation};
    for (int i = N; i < LATENCY; i++) {
        int64_t value = columns[i].fallback;
        int at = header->cell[i];
        if (at >= 0 && !kw_word_int(cells->cell[at], columns[i].low, INT64_MAX, &value)) {
            return kw_fail(err, KW_MALFORMED, "%s \"%.*s\" is not a whole number of at least %lld", columns[i].name,
                           KW_WORD(cells->cell[at]), (long long)columns[i].low);
        }
        if (i < DI) {
            *fields[i - N] = value;
        } else {
            triples[(i - DI) / 3][(i - DI) % 3] = value;
        }
    }
    memcpy(conv->pad_back, conv->pad, sizeof conv->pad);
    bool deep = conv->in[0] > 1 || conv->filter[0] > 1 || conv->pad[0] > 0;
    problem->ndim = deep ? 3 : 2;
    problem->layout = KW_CHANNELS_LAST;
    if (!deep) {
        conv->stride[0] = conv->dilation[0] = 1; /* of an axis that is not there they say nothing */
    }
    return kw_problem_check(problem, err);
}

static kw_status read_seed_outcome(kw_row *row, const kw_problem *problem, const kw_seed_header *header, const kw_csv_record *cells,
                                   kw_error *err) {
    kw_record *record = &row->record;
    kw_word latency = cells->cell[header->cell[LATENCY]], rate = cells->cell[header->cell[TFLOPS]],
            count = cells->cell[header->cell[NON_ZERO]];
    double ms = 0, tflops = 0, non_zero = 0;
    if (!kw_number_read(rate, &tflops) || tflops < 0 || !kw_number_read(count, &non_zero) || non_zero < 0) {
        return kw_fail(err, KW_MALFORMED, "tflops \"%.*s\" and non_zero \"%.*s\" must be numbers of at least 0", KW_WORD(rate),
                       KW_WORD(count));
    }
    if (kw_word_is(latency, "N/A")) {
        record->outcome = KW_UNLAUNCHED;
        snprintf(record->detail, sizeof record->detail, "latency N/A in the file it came from");
        return tflops == 0 ? KW_OK : kw_fail(err, KW_ILLEGAL, "latency_ms is N/A, but tflops is %g", tflops);
    }
    if (!kw_number_read(latency, &ms) || ms <= 0) {
        return kw_fail(err, KW_MALFORMED, "latency_ms \"%.*s\" must be above 0, or N/A", KW_WORD(latency));
    }
    double follows = seed_flops(&problem->conv, problem) / (ms * 1e9);
    if (fabs(tflops - follows) > 0.1 * follows + 0.01) {
        return kw_fail(err, KW_ILLEGAL, "tflops is %g, but sizes and latency make it %.4g", tflops, follows);
    }
    record->time_ns = ms * 1e6;
    if (non_zero == 0) {
        record->outcome = KW_WRONG;
        snprintf(record->detail, sizeof record->detail, "the result was all zeros: non_zero is 0 in the file it came from");
    } else if (kw_config_is_foreign(record->config, NULL, NULL)) {
        record->outcome = KW_MISTRUSTED;
        snprintf(record->detail, sizeof record->detail, "from a file that does not say whether the result was right");
    } else {
        record->outcome = KW_GOOD;
    }
    return KW_OK;
}

/* Operation and type as the kernel's name begins, "grouped_conv_bwd_data_bf16_2d_..."; those that were given come first. */
static kw_status find_seed_op(kw_problem *problem, kw_word kernel, const kw_row *defaults, kw_error *err) {
    static const struct {
        const char *start;
        kw_op op;
    } names[] = {{"grouped_conv_forward_", KW_CONV_FWD},
                 {"grouped_conv_bwd_data_", KW_CONV_BWD_DATA},
                 {"grouped_conv_bwd_weight_", KW_CONV_BWD_WEIGHT}};
    if (*defaults->problem) {
        kw_problem like;
        kw_status status = kw_problem_parse(&like, defaults->problem, err);
        problem->op = status ? problem->op : like.op;
        problem->dtype = status ? problem->dtype : like.dtype;
        return status || like.op != KW_GEMM
                   ? status
                   : kw_fail(err, KW_ILLEGAL, "these columns are of convolutions, but the operation asked for is gemm");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = strlen(names[i].start);
        kw_scan rest = {kernel.at + size, kernel.at + kernel.size};
        kw_word word;
        if (kw_word_starts(kernel, names[i].start) && kw_scan_field(&rest, '_', &word) && kw_dtype_of_word(&problem->dtype, word)) {
            problem->op = names[i].op;
            return KW_OK;
        }
    }
    return kw_fail(err, KW_MISSING,
                   "kernel %.*s does not say its operation and type as grouped_conv_forward_bf16_... does; give them (--op, --dtype)",
                   KW_WORD(kernel));
}

kw_status kw_seed_row_read(kw_row *row, const kw_seed_header *header, const kw_csv_record *cells, const kw_row *defaults, kw_error *err) {
    kw_problem problem = {0};
    kw_word kernel = {"", 0};
    if (cells->count != header->count) {
        return kw_fail(err, KW_MALFORMED, "it has %d cells, the header has %d", cells->count, header->count);
    }
    kernel = kw_csv_unguard(cells->cell[header->cell[KERNEL]]);
    if (!kernel.size || kernel.size >= sizeof row->record.config || memchr(kernel.at, 0, kernel.size)) {
        return kw_fail(err, KW_MALFORMED, "kernel has %zu characters; a name has 1 to %d", kernel.size, KW_CONFIG_TEXT_MAX - 1);
    }
    kw_status status = find_seed_op(&problem, kernel, defaults, err);
    if (status) {
        return status;
    }
    memset(row, 0, sizeof *row);
    memcpy(row->record.config, kernel.at, kernel.size);
    status = read_seed_sizes(&problem, header, cells, err);
    status = status ? status : read_seed_outcome(row, &problem, header, cells, err);
    if (status) {
        return status;
    }
    kw_problem_print(row->problem, sizeof row->problem, &problem);
    memcpy(row->run, defaults->run, sizeof row->run);
    memcpy(row->time, defaults->time, sizeof row->time);
    memcpy(row->target, defaults->target, sizeof row->target);
    row->packed = defaults->packed;
    row->record.cold = defaults->record.cold;
    row->sequence = cells->line;
    return KW_OK;
}
