/* import_blas.c: lines of libraries that count matrices by columns. hipblaslt-bench: options as HIPBLASLT_LOG_MASK=32 logs them,
 * "hipblaslt-bench -m 1024 -n 512 -k 64 --transA T --transB N --a_type bf16_r ...". PyTorch's TunableOp: a line of its results or of its
 * untuned list, "GemmTunableOp_BFloat16_TN,tn_1024_512_64_ld_64_64_1024,...". Both multiply column-major matrices, which is the transposed
 * product of row-major ones: m and n, A and B change places. */
#include "problem/import/import.h"

#include "base/format/number.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

#include <math.h>
#include <string.h>

/* A product of column-major matrices. */
typedef struct product {
    int64_t m, n, k, batch;
    int64_t ld[3], stride[3]; /* of A, B and the result; 0: not said */
    bool transpose_a, transpose_b;
} product;

/* What TunableOp says of a product besides; rows: scales are vectors along the rows of A and columns of B. */
typedef struct tunable {
    kw_dtype dtype, result;
    bool tf32, scaled, rows, biased;
    kw_dtype bias;
} tunable;

void kw_import_product(kw_problem *problem, int64_t batch, const int64_t mnk[3], bool transpose_a, bool transpose_b, bool column_major) {
    static const kw_layout layouts[2][2] = {{KW_RRR, KW_RCR}, {KW_CRR, KW_CCR}}; /* by transposition of A and of B */
    problem->op = KW_GEMM;
    problem->layout = column_major ? layouts[transpose_b][transpose_a] : layouts[transpose_a][transpose_b];
    problem->gemm = (kw_gemm_dims){.batch = batch, .m = mnk[column_major], .n = mnk[!column_major], .k = mnk[2]};
}

static void make_product(kw_problem *problem, const product *p, kw_dtype dtype) {
    static const kw_tensor tensors[3] = {KW_W, KW_X, KW_Y}; /* A is our B */
    memset(problem, 0, sizeof *problem);
    problem->dtype = dtype;
    kw_import_product(problem, p->batch, (int64_t[]){p->m, p->n, p->k}, p->transpose_a, p->transpose_b, true);
    for (int i = 0; i < 3; i++) {
        problem->pitch[tensors[i]][0] = p->ld[i];
        problem->pitch[tensors[i]][1] = p->stride[i];
    }
    kw_pitches_normalize(problem);
}

/* --- hipblaslt-bench --------------------------------------------------------------------------------------------------- */

typedef enum kind { NUMBER, TRANSPOSE, TYPE, NEUTRAL, ABSENT, PASSED, FLAG, SAID } kind;

typedef struct bench_settings {
    product p;
    kw_word type[4]; /* of A, B, C, D; empty: as precision */
    kw_word precision, bias_type, beta, activation, argument[2], scale_a, scale_b, scale_c, scale_d;
    bool bias, alphas;
} bench_settings;

typedef struct bench_option {
    const char *names; /* all of them, blanks between */
    kind kind;         /* ABSENT: a flag that must not be there; FLAG: one that changes nothing; SAID: one that is remembered */
    size_t offset;
    const char *neutrals; /* values that change nothing */
} bench_option;

static const bench_option bench_options[] = {
    {"-m --sizem", NUMBER, offsetof(bench_settings, p.m), NULL},
    {"-n --sizen", NUMBER, offsetof(bench_settings, p.n), NULL},
    {"-k --sizek", NUMBER, offsetof(bench_settings, p.k), NULL},
    {"--batch_count", NUMBER, offsetof(bench_settings, p.batch), NULL},
    {"--lda", NUMBER, offsetof(bench_settings, p.ld[0]), NULL},
    {"--ldb", NUMBER, offsetof(bench_settings, p.ld[1]), NULL},
    {"--ldd", NUMBER, offsetof(bench_settings, p.ld[2]), NULL},
    {"--stride_a", NUMBER, offsetof(bench_settings, p.stride[0]), NULL},
    {"--stride_b", NUMBER, offsetof(bench_settings, p.stride[1]), NULL},
    {"--stride_d", NUMBER, offsetof(bench_settings, p.stride[2]), NULL},
    {"--transA", TRANSPOSE, offsetof(bench_settings, p.transpose_a), NULL},
    {"--transB", TRANSPOSE, offsetof(bench_settings, p.transpose_b), NULL},
    {"--a_type", TYPE, offsetof(bench_settings, type[0]), NULL},
    {"--b_type", TYPE, offsetof(bench_settings, type[1]), NULL},
    {"--c_type", TYPE, offsetof(bench_settings, type[2]), NULL},
    {"--d_type", TYPE, offsetof(bench_settings, type[3]), NULL},
    {"--precision -r", TYPE, offsetof(bench_settings, precision), NULL},
    {"--bias_type", TYPE, offsetof(bench_settings, bias_type), NULL},
    {"--beta", TYPE, offsetof(bench_settings, beta), NULL},
    {"--activation_type", TYPE, offsetof(bench_settings, activation), NULL},
    {"--activation_arg1", TYPE, offsetof(bench_settings, argument[0]), NULL},
    {"--activation_arg2", TYPE, offsetof(bench_settings, argument[1]), NULL},
    {"--scaleA", TYPE, offsetof(bench_settings, scale_a), NULL},
    {"--scaleB", TYPE, offsetof(bench_settings, scale_b), NULL},
    {"--scaleC", TYPE, offsetof(bench_settings, scale_c), NULL},
    {"--scaleD", TYPE, offsetof(bench_settings, scale_d), NULL},
    {"--bias_vector", SAID, offsetof(bench_settings, bias), NULL},
    {"--scaleAlpha_vector", SAID, offsetof(bench_settings, alphas), NULL},
    {"--compute_type", NEUTRAL, 0, "f32_r i32_r s c_f32_r c_i32_r"},
    {"--function -f", NEUTRAL, 0, "matmul"},
    {"--swizzleA --swizzleB --grouped_gemm --gradient --use_e", ABSENT, 0, NULL},
    /* what is a matter of running and timing, or of numbers that a run is given */
    {"--ldc --lde --stride_c --stride_e --alpha --scale_type --bias_source --aux_type --scaleE --api_method --algo_method --solution_index "
     "--requested_solution --workspace --iters -i --cold_iters -j --initialization --device --rotating --max_workspace --splitk --wgm "
     "--compute_input_typeA --compute_input_typeB --function_filter --print_kernel_info_level --skip_slow_solution_ratio",
     PASSED, 0, NULL},
    {"--amaxScaleA --amaxScaleB --amaxD --print_kernel_info --use_gpu_timer --use_user_args --any_stride --c_equal_d --flush --verify -v "
     "--HMM "
     "--norm_check --allclose_check --log_function_name --datafile",
     FLAG, 0, NULL},
};

static const struct {
    const char *word;
    kw_dtype dtype;
} bench_types[] = {
    {"f32_r", KW_FP32}, {"s", KW_FP32},    {"f16_r", KW_FP16}, {"h", KW_FP16},      {"bf16_r", KW_BF16},
    {"f8_r", KW_FP8},   {"bf8_r", KW_BF8}, {"i8_r", KW_INT8},  {"i32_r", KW_INT32},
};

static bool is_word_of(kw_word word, const char *list) {
    kw_scan scan = kw_scan_string(list);
    kw_word each;
    while (kw_scan_word(&scan, &each)) {
        if (each.size == word.size && !memcmp(each.at, word.at, word.size)) {
            return true;
        }
    }
    return false;
}

static const bench_option *find_bench_option(kw_word word) {
    for (size_t i = 0; i < sizeof bench_options / sizeof *bench_options; i++) {
        if (is_word_of(word, bench_options[i].names)) {
            return &bench_options[i];
        }
    }
    return NULL;
}

static kw_status take_bench_value(bench_settings *all, const bench_option *of, kw_word name, kw_word value, kw_error *err) {
    char *field = (char *)all + of->offset;
    bool transpose = kw_word_is(value, "T") || kw_word_is(value, "C");
    int64_t number;
    switch (of->kind) {
    case NUMBER:
        if (!kw_word_int(value, kw_word_starts(name, "--stride") ? 0 : 1, INT64_MAX, &number)) {
            return kw_fail(err, KW_MALFORMED, "hipblaslt-bench line: %.*s \"%.*s\" is not a whole number of at least %d", KW_WORD(name),
                           KW_WORD(value), kw_word_starts(name, "--stride") ? 0 : 1);
        }
        memcpy(field, &number, sizeof number);
        return KW_OK;
    case TRANSPOSE:
        memcpy(field, &transpose, sizeof transpose);
        return transpose || kw_word_is(value, "N")
                   ? KW_OK
                   : kw_fail(err, KW_MALFORMED, "hipblaslt-bench line: %.*s \"%.*s\" is not N, T or C", KW_WORD(name), KW_WORD(value));
    case TYPE:
        memcpy(field, &value, sizeof value);
        return KW_OK;
    case NEUTRAL:
        return is_word_of(value, of->neutrals)
                   ? KW_OK
                   : kw_fail(err, KW_ILLEGAL, "hipblaslt-bench line: %.*s %.*s has no counterpart here; what can be read is %s",
                             KW_WORD(name), KW_WORD(value), of->neutrals);
    case SAID:
        memcpy(field, &(bool){true}, sizeof(bool));
        return KW_OK;
    default:
        return KW_OK;
    }
}

static kw_status read_bench_options(bench_settings *all, kw_scan scan, kw_error *err) {
    kw_word word, value = {0};
    uint64_t seen = 0;
    while (kw_scan_word(&scan, &word)) {
        const bench_option *found = find_bench_option(word);
        if (!found || found->kind == ABSENT) {
            return kw_fail(err, found ? KW_ILLEGAL : KW_MALFORMED, "hipblaslt-bench line: \"%.*s\" %s", KW_WORD(word),
                           found ? "has no counterpart here" : "is not an option that is known; options come as -m 1024 or --transA T");
        }
        bool flag = found->kind == FLAG || found->kind == SAID;
        uint64_t bit = found->kind == PASSED || flag ? 0 : (uint64_t)1 << (found - bench_options);
        if (seen & bit) {
            return kw_fail(err, KW_MALFORMED, "hipblaslt-bench line: \"%.*s\" comes a second time; keep one", KW_WORD(word));
        }
        seen |= bit;
        if (!flag && !kw_scan_word(&scan, &value)) {
            return kw_fail(err, KW_MALFORMED, "hipblaslt-bench line: \"%.*s\" is last and has no value; add it", KW_WORD(word));
        }
        if (found->kind == FLAG) { /* "-v 1": some releases want a number behind a flag */
            kw_scan behind = scan;
            scan = kw_scan_word(&behind, &value) && (kw_word_is(value, "0") || kw_word_is(value, "1")) ? behind : scan;
        }
        kw_status status = take_bench_value(all, found, word, value, err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

static kw_status find_bench_type(kw_dtype *dtype, kw_word word, kw_error *err) {
    for (size_t i = 0; i < sizeof bench_types / sizeof *bench_types; i++) {
        if (kw_word_is(word, bench_types[i].word)) {
            *dtype = bench_types[i].dtype;
            return KW_OK;
        }
    }
    return kw_fail(err, KW_ILLEGAL, "hipblaslt-bench line: type %.*s is not known here; use f32_r f16_r bf16_r f8_r bf8_r i8_r",
                   KW_WORD(word));
}

static kw_status take_bench_types(kw_problem *problem, const bench_settings *all, kw_error *err) {
    kw_dtype type[4];
    for (int i = 0; i < 4; i++) {
        kw_status status = find_bench_type(&type[i], all->type[i].size ? all->type[i] : all->precision, err);
        if (status) {
            return status;
        }
    }
    problem->dtype = type[0];
    if (type[0] != type[1] || !kw_dtype_is_input(type[0])) {
        return kw_fail(err, KW_ILLEGAL, "hipblaslt-bench line: types %s and %s are not possible here; A and B are of one type",
                       kw_dtype_name(type[0]), kw_dtype_name(type[1]));
    }
    kw_import_result_type(problem, type[3]);
    return KW_OK;
}

static kw_status take_bench_activation(kw_problem *problem, const bench_settings *all, kw_error *err) {
    static const struct {
        const char *name;
        kw_epilogue_op op;
    } activations[] = {{"relu", KW_EPILOGUE_RELU},  {"gelu", KW_EPILOGUE_GELU_TANH},  {"silu", KW_EPILOGUE_SILU},
                       {"swish", KW_EPILOGUE_SILU}, {"sigmoid", KW_EPILOGUE_SIGMOID}, {"clamp", KW_EPILOGUE_CLAMP}};
    double bounds[2] = {0, INFINITY}; /* the program's defaults */
    if (!all->activation.size || kw_word_is(all->activation, "none")) {
        return KW_OK;
    }
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        bool clamps = activations[i].op == KW_EPILOGUE_CLAMP;
        if (!kw_word_is(all->activation, activations[i].name)) {
            continue;
        }
        for (int bound = 0; bound < 2 && clamps; bound++) {
            if (all->argument[bound].size && !kw_number_read(all->argument[bound], &bounds[bound])) {
                return kw_fail(err, KW_MALFORMED, "hipblaslt-bench line: --activation_arg%d %.*s is no number", bound + 1,
                               KW_WORD(all->argument[bound]));
            }
        }
        bool from_0 = clamps && bounds[0] == 0 && bounds[1] == INFINITY;
        return kw_import_step(problem, from_0 ? KW_EPILOGUE_RELU : activations[i].op, KW_FP32, clamps && !from_0 ? bounds[0] : 0,
                              clamps && !from_0 ? bounds[1] : 0, err);
    }
    return kw_fail(err, KW_ILLEGAL,
                   "hipblaslt-bench line: activation %.*s has no counterpart here; use none relu gelu silu swish sigmoid clamp",
                   KW_WORD(all->activation));
}

/* Steps in hipBLASLt's order: scales of A and B, a vector of alphas, beta C, bias, activation, the scale of D. Its vectors run along the rows of the
 * column-major result, which are our columns. */
static kw_status take_bench_steps(kw_problem *problem, const bench_settings *all, kw_error *err) {
    const kw_word scales[2] = {all->scale_a, all->scale_b};
    kw_dtype type = kw_problem_dtype(problem, KW_Y);
    double beta = 0;
    kw_status status = KW_OK;
    for (int i = 0; i < 2 && !status; i++) {
        bool one = kw_word_is(scales[i], "1"), vector = kw_word_is(scales[i], "2");
        if (scales[i].size && !one && !vector && !kw_word_is(scales[i], "0")) {
            return kw_fail(err, KW_ILLEGAL,
                           "hipblaslt-bench line: scale mode %.*s has no counterpart here; use 0, 1 (one value) or 2 (a vector)",
                           KW_WORD(scales[i]));
        }
        if (one || vector) { /* A's vector runs along our columns, B's along our rows */
            kw_epilogue_op op = one ? KW_EPILOGUE_SCALE : i ? KW_EPILOGUE_SCALE_ROW : KW_EPILOGUE_SCALE_CHANNEL;
            status = kw_import_step(problem, op, KW_FP32, 0, 0, err);
        }
    }
    if (!status && all->alphas) {
        status = kw_import_step(problem, KW_EPILOGUE_SCALE_CHANNEL, KW_FP32, 0, 0, err);
    }
    if (!status && all->beta.size && !kw_number_read(all->beta, &beta)) {
        status = kw_fail(err, KW_MALFORMED, "hipblaslt-bench line: --beta %.*s is no number", KW_WORD(all->beta));
    }
    if (!status && beta != 0) {
        if (kw_word_is(all->scale_c, "1")) {
            return kw_fail(err, KW_ILLEGAL, "hipblaslt-bench line: --scaleC 1 beside --beta has no counterpart here; leave one away");
        }
        status = all->type[2].size ? find_bench_type(&type, all->type[2], err) : KW_OK;
        status = status ? status : kw_import_step(problem, KW_EPILOGUE_ADD, type, beta, 0, err);
    }
    if (!status && all->bias) {
        type = kw_problem_dtype(problem, KW_Y);
        bool as_result = !all->bias_type.size || kw_word_is(all->bias_type, "default");
        status = as_result ? KW_OK : find_bench_type(&type, all->bias_type, err);
        status = status ? status : kw_import_step(problem, KW_EPILOGUE_BIAS, type, 0, 0, err);
    }
    status = status ? status : take_bench_activation(problem, all, err);
    return status || !kw_word_is(all->scale_d, "1") ? status : kw_import_step(problem, KW_EPILOGUE_SCALE, KW_FP32, 0, 0, err);
}

kw_status kw_import_hipblaslt(kw_problem *problem, kw_scan scan, kw_error *err) {
    bench_settings all = {.p = {.m = 128, .n = 128, .k = 128, .batch = 1}, .precision = {"f16_r", 5}}; /* the program's defaults */
    kw_status status = read_bench_options(&all, scan, err);
    make_product(problem, &all.p, KW_FP32);
    status = status ? status : take_bench_types(problem, &all, err);
    return status ? status : take_bench_steps(problem, &all, err);
}

/* --- TunableOp --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    kw_dtype dtype;
    bool tf32;
} tunable_types[] = {
    {"float", KW_FP32, false},    {"tf32", KW_FP32, true},          {"Half", KW_FP16, false},
    {"BFloat16", KW_BF16, false}, {"Float8_e4m3fn", KW_FP8, false}, {"Float8_e5m2", KW_BF8, false},
};
enum { TUNABLE_TYPES = sizeof tunable_types / sizeof *tunable_types };

static const struct {
    const char *name;
    bool scaled, biased; /* a scaled product names the types of A, B and the result */
} tunable_ops[] = {
    {"GemmTunableOp_", false, false},
    {"GemmAndBiasTunableOp_", false, true},
    {"GemmStridedBatchedTunableOp_", false, false},
    {"ScaledGemmTunableOp_", true, false},
};

bool kw_import_tunable_validator(kw_word word) {
    return kw_word_starts(word, "Validator,");
}

bool kw_import_tunable_names(kw_word word) {
    const char *comma = memchr(word.at, ',', word.size);
    return kw_import_tunable_validator(word) || (comma && memmem(word.at, (size_t)(comma - word.at), "TunableOp_", 10) != NULL);
}

/* The type that the text begins with, an underscore behind it; its number, TUNABLE_TYPES: there is none. */
static size_t scan_tunable_type(kw_word *rest) {
    for (size_t i = 0; i < TUNABLE_TYPES; i++) {
        size_t size = strlen(tunable_types[i].word);
        if (rest->size > size && kw_word_starts(*rest, tunable_types[i].word) && rest->at[size] == '_') {
            *rest = (kw_word){rest->at + size + 1, rest->size - size - 1};
            return i;
        }
    }
    return TUNABLE_TYPES;
}

/* "BFloat16_TN" behind the operation: the type, or three, and whether A and B are transposed. */
static kw_status read_tunable_op(product *p, tunable *t, kw_word op, kw_error *err) {
    kw_word rest = {"", 0};
    for (size_t i = 0; i < sizeof tunable_ops / sizeof *tunable_ops; i++) {
        size_t size = strlen(tunable_ops[i].name);
        if (kw_word_starts(op, tunable_ops[i].name)) {
            rest = (kw_word){op.at + size, op.size - size};
            t->scaled = tunable_ops[i].scaled;
            t->biased = tunable_ops[i].biased;
        }
    }
    size_t type[3];
    bool good = rest.size > 0;
    for (int i = 0; i < 3 && good; i++) {
        type[i] = i == 0 || t->scaled ? scan_tunable_type(&rest) : type[0];
        good = type[i] < TUNABLE_TYPES;
    }
    if (good && rest.size == 2 && strchr("NTC", rest.at[0]) && strchr("NTC", rest.at[1])) {
        t->dtype = tunable_types[type[0]].dtype;
        t->result = tunable_types[type[2]].dtype;
        t->tf32 = tunable_types[type[0]].tf32;
        t->bias = t->result;
        p->transpose_a = rest.at[0] != 'N';
        p->transpose_b = rest.at[1] != 'N';
        return tunable_types[type[1]].dtype == t->dtype
                   ? KW_OK
                   : kw_fail(err, KW_ILLEGAL, "TunableOp line: \"%.*s\": A and B are of one type here", KW_WORD(op));
    }
    return kw_fail(err, KW_ILLEGAL,
                   "TunableOp line: \"%.*s\" has no counterpart here; what can be read is GemmTunableOp_, GemmAndBiasTunableOp_, "
                   "GemmStridedBatchedTunableOp_ and ScaledGemmTunableOp_ with float, tf32, Half, BFloat16, Float8_e4m3fn or Float8_e5m2 "
                   "and NN, NT, TN or TT",
                   KW_WORD(op));
}

/* "None", or the type of a bias. */
static bool take_tunable_bias(tunable *t, kw_word word) {
    if (kw_word_is(word, "None")) {
        return true;
    }
    for (size_t i = 0; i < TUNABLE_TYPES; i++) {
        if (kw_word_is(word, tunable_types[i].word) || (tunable_types[i].dtype == KW_FP32 && kw_word_is(word, "Float"))) {
            t->biased = true;
            t->bias = tunable_types[i].dtype;
            return true;
        }
    }
    return false;
}

/* "tn_1024_512_64", with "_B_8" and "_ld_64_64_1024" where they are, of scaled products "_rw_1_bias_None". */
static bool read_tunable_sizes(product *p, tunable *t, kw_word text) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word part;
    int64_t *const sizes[] = {&p->m, &p->n, &p->k};
    bool good = kw_scan_field(&scan, '_', &part) && part.size == 2;
    for (int i = 0; i < 3 && good; i++) {
        good = kw_scan_field(&scan, '_', &part) && kw_word_int(part, 1, INT64_MAX, sizes[i]);
    }
    while (good && kw_scan_field(&scan, '_', &part)) {
        if (kw_word_is(part, "B")) {
            good = kw_scan_field(&scan, '_', &part) && kw_word_int(part, 1, INT64_MAX, &p->batch);
        } else if (kw_word_is(part, "ld")) {
            for (int i = 0; i < 3 && good; i++) {
                good = kw_scan_field(&scan, '_', &part) && kw_word_int(part, 1, INT64_MAX, &p->ld[i]);
            }
        } else if (t->scaled && kw_word_is(part, "rw")) {
            good = kw_scan_field(&scan, '_', &part) && (kw_word_is(part, "0") || kw_word_is(part, "1"));
            t->rows = good && kw_word_is(part, "1");
        } else {
            good = t->scaled && kw_word_is(part, "bias") && kw_scan_field(&scan, '_', &part) && take_tunable_bias(t, part);
        }
    }
    return good;
}

/* The scales of A and B, which are vectors along our columns and rows or one value each, and the bias. */
static kw_status take_tunable_steps(kw_problem *problem, const tunable *t, kw_error *err) {
    static const kw_epilogue_op scales[2][2] = {{KW_EPILOGUE_SCALE, KW_EPILOGUE_SCALE}, {KW_EPILOGUE_SCALE_CHANNEL, KW_EPILOGUE_SCALE_ROW}};
    kw_status status = KW_OK;
    for (int i = 0; i < 2 && t->scaled && !status; i++) {
        status = kw_import_step(problem, scales[t->rows][i], KW_FP32, 0, 0, err);
    }
    return status || !t->biased ? status : kw_import_step(problem, KW_EPILOGUE_BIAS, t->bias, 0, 0, err);
}

kw_status kw_import_tunable(kw_problem *problem, kw_scan scan, kw_error *err) {
    product p = {.batch = 1};
    tunable t = {.dtype = KW_FP32};
    kw_word op = {"", 0}, sizes = {"", 0};
    kw_scan_field(&scan, ',', &op);
    kw_scan_field(&scan, ',', &sizes);
    if (kw_word_is(op, "Validator")) {
        return kw_fail(err, KW_ILLEGAL, "TunableOp line: a Validator says which versions the results hold for and is no problem");
    }
    kw_status status = read_tunable_op(&p, &t, op, err);
    if (!status && !read_tunable_sizes(&p, &t, sizes)) {
        status =
            kw_fail(err, KW_MALFORMED,
                    "TunableOp line: \"%.*s\" does not read like tn_1024_512_64, nn_64_128_128_B_96_ld_64_128_64 or of a scaled product "
                    "tn_64_512_256_ld_256_256_64_rw_1_bias_None",
                    KW_WORD(sizes));
    }
    make_product(problem, &p, t.dtype);
    problem->fpmath = t.tf32 ? KW_FPMATH_TF32 : KW_FPMATH_STRICT;
    if (!status && t.scaled) {
        kw_import_result_type(problem, t.result);
    }
    return status ? status : take_tunable_steps(problem, &t, err);
}
