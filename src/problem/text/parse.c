/* parse.c: one line of text -> problem. Words come in any order, so there are two passes over the text: the first finds the
 * operation, the type and the layout, the second the sizes, whose letters depend on the operation. Nothing is copied and each pass stops at
 * the first fault, so a line of any length costs at most two readings. docs/problems/problem-text.md is the grammar. */
#include "base/nearest.h"
#include "problem/text/dims.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"

#include <stdio.h>
#include <string.h>

/* What the text says of one dimension. */
typedef struct given {
    kw_word word; /* size 0: nothing */
    int count, back_count;
    int64_t value[3], back[3];
} given;

static kw_status fail_twice(const char *what, kw_word word, kw_error *err) {
    return kw_fail(err, KW_MALFORMED, "problem: \"%.*s\" names %s a second time; keep one", KW_WORD(word), what);
}

/* No name is shorter; sizes of one digit, the bulk of a hostile line, need no look-up. */
enum { SHORTEST_NAME = 3 };

static bool dtype_named(kw_dtype *dtype, kw_word word) {
    bool plain = true;
    return kw_dtype_of_word(dtype, word) || (kw_dtype_of_other_word(dtype, &plain, word) && plain);
}

static bool is_name(kw_word word) {
    kw_op op;
    kw_dtype dtype;
    kw_layout layout;
    int32_t ndim;
    return word.size >= SHORTEST_NAME && (kw_op_of_word(&op, word) || dtype_named(&dtype, word) || kw_layout_of_word(&layout, &ndim, word));
}

/* --- what was meant, for messages --- */

/* A word without any was meant as a name: nchwc is no number of images. */
static bool has_digit(kw_word word) {
    for (size_t i = 0; i < word.size; i++) {
        if (word.at[i] >= '0' && word.at[i] <= '9') {
            return true;
        }
    }
    return false;
}

/* "did you mean fp32 by f32; ", "no kernel computes in fp64; " or "". */
static void hint_dtype(char *hint, size_t capacity, kw_scan scan) {
    kw_word word;
    char near[KW_NEAREST_MAX];
    *hint = 0;
    while (!*hint && kw_scan_word(&scan, &word)) {
        kw_dtype dtype;
        bool plain;
        if (kw_dtype_of_other_word(&dtype, &plain, word)) {
            snprintf(hint, capacity, dtype < KW_DTYPE_COUNT ? "did you mean %s by %.*s; " : "%s%.*s is a type of no kernel; ",
                     dtype < KW_DTYPE_COUNT ? kw_dtype_name(dtype) : "", KW_WORD(word));
        } else if (word.size >= SHORTEST_NAME && !is_name(word) && kw_nearest(near, word, KW_DTYPE_WORDS(" "))) {
            snprintf(hint, capacity, "did you mean %s by %.*s; ", near, KW_WORD(word));
        }
    }
}

static void hint_op(char *hint, size_t capacity, kw_scan scan) {
    kw_word word;
    char near[KW_NEAREST_MAX];
    *hint = 0;
    while (!*hint && kw_scan_word(&scan, &word)) {
        if (word.size >= SHORTEST_NAME && !is_name(word) && kw_nearest(near, word, KW_OP_WORDS(" "))) {
            snprintf(hint, capacity, "did you mean %s by %.*s; ", near, KW_WORD(word));
        }
    }
}

static const char gemm_layouts[] = "rcr, rrr, crr, ccr", conv_layouts[] = "nwgc, nhwgc, ndhwgc, ngcw, ngchw, ngcdhw";

static kw_status fail_unknown_word(const kw_problem *problem, kw_word word, kw_error *err) {
    bool gemm = problem->op == KW_GEMM;
    const char *layouts = gemm ? gemm_layouts : conv_layouts;
    char near[KW_NEAREST_MAX], hint[KW_NEAREST_MAX + 24] = "";
    kw_dtype dtype;
    bool plain;
    if (kw_nearest(near, word, layouts) || kw_nearest(near, word, KW_DTYPE_WORDS(" "))) {
        snprintf(hint, sizeof hint, "; did you mean %s", near);
    } else if (kw_dtype_of_other_word(&dtype, &plain, word)) {
        snprintf(hint, sizeof hint, "; a type stands once");
    }
    return kw_fail(err, KW_MALFORMED, "problem: word \"%.*s\" is not known%s; sizes of %s are %s, layouts %s, dtypes " KW_DTYPE_WORDS(", "),
                   KW_WORD(word), hint, kw_op_name(problem->op),
                   gemm ? "b g m n k lda ldb ldc stridea strideb stridec" : "n g c k i f s p d", layouts);
}

/* Takes a word that is an operation, a type or a layout. */
static kw_status take_type_name(kw_problem *problem, kw_word word, kw_error *err) {
    kw_op op;
    kw_dtype dtype;
    if (kw_op_of_word(&op, word)) {
        if (problem->op < KW_OP_COUNT) {
            return fail_twice("the operation", word, err);
        }
        problem->op = op;
        return KW_OK;
    }
    if (dtype_named(&dtype, word)) {
        if (problem->dtype < KW_DTYPE_COUNT) {
            return fail_twice("the dtype", word, err);
        }
        problem->dtype = dtype;
        return KW_OK;
    }
    if (problem->layout < KW_LAYOUT_COUNT) {
        return fail_twice("the layout", word, err);
    }
    return kw_layout_of_word(&problem->layout, &problem->ndim, word) ? KW_OK : KW_MALFORMED; /* is_name has seen it */
}

static kw_status read_dim_names(kw_problem *problem, kw_scan scan, kw_error *err) {
    memset(problem, 0, sizeof *problem); /* the bytes of equal problems are equal, unused ones of the union included */
    problem->op = KW_OP_COUNT;
    problem->dtype = KW_DTYPE_COUNT;
    problem->layout = KW_LAYOUT_COUNT;
    kw_word text = {scan.at, (size_t)(scan.end - scan.at)}, word;
    kw_scan start = scan;
    char hint[128];
    while (kw_scan_word(&scan, &word)) {
        kw_status status = is_name(word) ? take_type_name(problem, word, err) : KW_OK;
        if (status) {
            return status;
        }
    }
    if (problem->op == KW_OP_COUNT) {
        hint_op(hint, sizeof hint, start);
        return kw_fail(err, KW_MALFORMED, "problem: \"%.*s\" names no operation; %sadd one of " KW_OP_WORDS(", "), KW_WORD(text), hint);
    }
    if (problem->dtype == KW_DTYPE_COUNT) {
        hint_dtype(hint, sizeof hint, start);
        return kw_fail(err, KW_MALFORMED, "problem: \"%.*s\" names no dtype; %sadd one of " KW_DTYPE_WORDS(", "), KW_WORD(text), hint);
    }
    if (problem->layout < KW_LAYOUT_COUNT && kw_layout_is_gemm(problem->layout) != (problem->op == KW_GEMM)) {
        return kw_fail(err, KW_MALFORMED, "problem: layout %s does not belong to %s; use %s",
                       kw_layout_name(problem->layout, problem->ndim), kw_op_name(problem->op),
                       problem->op == KW_GEMM ? gemm_layouts : conv_layouts);
    }
    return KW_OK;
}

/* Up to three numbers with 'x' between; 0 when the text is no such list. */
static int scan_list(kw_scan *scan, int64_t low, int64_t values[3]) {
    int count = 0;
    do {
        if (count == 3 || !kw_scan_int(scan, low, INT64_MAX, &values[count])) {
            return 0;
        }
        count++;
    } while (kw_scan_char(scan, 'x'));
    return count;
}

static kw_status fail_size(const kw_dim *dim, kw_word word, kw_error *err) {
    return kw_fail(err, KW_MALFORMED, "problem: \"%.*s\" is no size: %c (%s) takes %s of at least %d and at most 19 digits, e.g. %c%s%s",
                   KW_WORD(word), dim->letter, dim->meaning,
                   dim->spatial ? "one to three whole numbers with x between, each" : "one whole number", (int)dim->low, dim->letter,
                   dim->sample, dim->back ? ", or p1x1:2x2 when the far edge differs" : "");
}

static kw_status read_dim_size(const kw_dim *dim, kw_word word, given *size, kw_error *err) {
    if (size->word.size) {
        return kw_fail(err, KW_MALFORMED, "problem: \"%.*s\" gives %c a second time, after \"%.*s\"; keep one", KW_WORD(word), dim->letter,
                       KW_WORD(size->word));
    }
    kw_scan scan = {word.at + 1, word.at + word.size};
    size->word = word;
    size->count = scan_list(&scan, dim->low, size->value);
    if (!size->count || (size->count > 1 && !dim->spatial)) {
        return fail_size(dim, word, err);
    }
    if (dim->back && kw_scan_char(&scan, ':')) {
        size->back_count = scan_list(&scan, INT64_MIN, size->back);
        if (!size->back_count) {
            return fail_size(dim, word, err);
        }
    }
    return scan.at == scan.end ? KW_OK : fail_size(dim, word, err);
}

/* x=TYPE, fpmath=WORD, filter=ORDER, out=TYPE and epilogue=STEPS, which stand once each. */
typedef struct given_epilogue {
    kw_word x, fpmath, filter, out, steps;
} given_epilogue;

static bool take_epilogue_word(given_epilogue *said, kw_word word, kw_status *status, kw_error *err) {
    const struct {
        const char *start, *what;
        kw_word *to;
    } rows[] = {{"x=", "the type of x", &said->x},
                {"fpmath=", "how exact products are", &said->fpmath},
                {"filter=", "the filter's order", &said->filter},
                {"out=", "the result's type", &said->out},
                {"epilogue=", "an epilogue", &said->steps}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t skip = strlen(rows[i].start);
        if (kw_word_starts(word, rows[i].start)) {
            *status = rows[i].to->at ? fail_twice(rows[i].what, word, err) : KW_OK;
            *rows[i].to = (kw_word){word.at + skip, word.size - skip};
            return true;
        }
    }
    return false;
}

/* ldxw96 and its kin, of a convolution; the letter is of an axis beside the innermost of the layout, which has been read. */
static bool take_image_pitch(kw_problem *problem, kw_word word, kw_status *status, kw_error *err) {
    const char *letters = kw_pitch_letters(problem->layout);
    char name[5] = "";
    bool x = kw_word_starts(word, "ldx");
    if (problem->op == KW_GEMM || (!x && !kw_word_starts(word, "ldy"))) {
        return false;
    }
    memcpy(name, word.at, word.size < 4 ? word.size : 4);
    const char *letter = word.size > 3 ? strchr(letters, word.at[3]) : NULL;
    int64_t *pitch = letter ? &problem->pitch[x ? KW_X : KW_Y][letter - letters] : NULL, value;
    if (!letter) {
        *status = kw_fail(err, KW_MALFORMED,
                          "problem: \"%.*s\" names no axis; behind ld%c stands one of %s, and how many elements lie between its positions",
                          KW_WORD(word), x ? 'x' : 'y', letters);
    } else if (*pitch) {
        *status = fail_twice(name, word, err);
    } else if (!kw_word_int((kw_word){word.at + 4, word.size - 4}, 1, INT64_MAX, &value)) {
        *status = kw_fail(err, KW_MALFORMED,
                          "problem: \"%.*s\" is no distance: %s takes a whole number of elements of at least 1 right behind it, e.g. %s128",
                          KW_WORD(word), name, name);
    } else {
        *pitch = value;
    }
    return true;
}

/* lda128, stridea0 and their kin, of a product. A distance of 0 is said of batches alone: one matrix for all. */
static bool take_pitch_word(kw_problem *problem, kw_word word, kw_status *status, kw_error *err) {
    if (take_image_pitch(problem, word, status, err)) {
        return true;
    }
    for (int i = 0; i < 2 * KW_TENSOR_COUNT && problem->op == KW_GEMM; i++) {
        const char *name = kw_pitch_words[i / 2][i % 2];
        size_t skip = strlen(name);
        int64_t *pitch = &problem->pitch[i / 2][i % 2], value;
        if (!kw_word_starts(word, name)) {
            continue;
        }
        if (*pitch) {
            *status = fail_twice(name, word, err);
        } else if (!kw_word_int((kw_word){word.at + skip, word.size - skip}, i % 2 ? 0 : 1, INT64_MAX, &value)) {
            *status =
                kw_fail(err, KW_MALFORMED,
                        "problem: \"%.*s\" is no distance: %s takes a whole number of elements of at least %d right behind it, e.g. %s128",
                        KW_WORD(word), name, i % 2 ? 0 : 1, name);
        } else {
            *pitch = value ? value : KW_BROADCAST;
        }
        return true;
    }
    return false;
}

static bool read_type(kw_dtype *dtype, kw_word word) {
    bool plain;
    return kw_dtype_of_word(dtype, word) || (kw_dtype_of_other_word(dtype, &plain, word) && *dtype < KW_DTYPE_COUNT);
}

static kw_status place_epilogue(kw_problem *problem, const given_epilogue *said, kw_error *err) {
    kw_epilogue *epilogue = &problem->epilogue;
    epilogue->output = kw_dtype_output(problem->dtype);
    kw_dtype x = problem->dtype;
    if (said->x.at && !read_type(&x, said->x)) {
        return kw_fail(err, KW_MALFORMED, "problem: x=%.*s is no type; use x=uint8, of int8 problems", KW_WORD(said->x));
    }
    problem->mixed = x != problem->dtype;
    problem->x_dtype = problem->mixed ? x : KW_FP32;
    bool fast = said->fpmath.at && kw_word_is(said->fpmath, "fast_accum");
    problem->fpmath = fast ? KW_FPMATH_FAST_ACCUM : said->fpmath.at ? KW_FPMATH_TF32 : KW_FPMATH_STRICT;
    if (said->fpmath.at && !fast && !kw_word_is(said->fpmath, "tf32")) {
        return kw_fail(err, KW_MALFORMED, "problem: fpmath=%.*s is not known; fpmath takes tf32 or fast_accum, or is left out",
                       KW_WORD(said->fpmath));
    }
    if (said->filter.at && !kw_filter_order_of_word(&problem->filter_order, said->filter)) {
        return kw_fail(err, KW_MALFORMED, "problem: filter=%.*s is no order of a filter; use one of %s", KW_WORD(said->filter),
                       kw_filter_order_words);
    }
    if (said->out.at && !read_type(&epilogue->output, said->out)) {
        return kw_fail(err, KW_MALFORMED, "problem: out=%.*s is no type; use one of " KW_DTYPE_WORDS(", ") ", int32, uint8",
                       KW_WORD(said->out));
    }
    epilogue->converts = epilogue->output != kw_dtype_output(problem->dtype);
    kw_dtype all = epilogue->output;
    epilogue->output = epilogue->converts ? all : KW_FP32;
    return said->steps.at ? kw_epilogue_read_steps(epilogue, said->steps, all, err) : KW_OK;
}

static kw_status read_dim_sizes(kw_problem *problem, kw_scan scan, given sizes[KW_DIMS_MAX], given_epilogue *epilogue, kw_error *err) {
    const kw_dim *dims = kw_dims(problem->op);
    kw_word word;
    while (kw_scan_word(&scan, &word)) {
        kw_status status = KW_OK;
        if (is_name(word)) {
            continue;
        }
        if (take_epilogue_word(epilogue, word, &status, err) || take_pitch_word(problem, word, &status, err)) {
            if (status) {
                return status;
            }
            continue;
        }
        const kw_dim *dim = dims;
        while (dim->letter && dim->letter != *word.at) {
            dim++;
        }
        if (!dim->letter || (word.size >= SHORTEST_NAME && !has_digit(word))) {
            return fail_unknown_word(problem, word, err);
        }
        status = read_dim_size(dim, word, &sizes[dim - dims], err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

/* Puts a list of count values on the last ndim of three axes; a single value holds for all of them. */
static void spread_axes(int64_t axes[3], const int64_t *values, int count, int ndim, int64_t unused) {
    for (int axis = 0; axis < 3; axis++) {
        int i = axis - (3 - ndim);
        axes[axis] = i < 0 ? unused : values[count == 1 ? 0 : i];
    }
}

static kw_status fail_extents(const kw_problem *problem, const given *size, int count, kw_error *err) {
    return kw_fail(err, KW_MALFORMED,
                   "problem: \"%.*s\" has %d extents, but there are %d spatial axes (%s); give one for each, or one for all",
                   KW_WORD(size->word), count, (int)problem->ndim, kw_layout_name(problem->layout, problem->ndim));
}

static kw_status place_size(kw_problem *problem, const kw_dim *dim, given *size, kw_error *err) {
    if (!size->count) {
        if (dim->fallback == KW_DIM_NEEDED) {
            return kw_fail(err, KW_MALFORMED, "problem: %c (%s) is missing; add e.g. %c%s", dim->letter, dim->meaning, dim->letter,
                           dim->sample);
        }
        size->value[0] = dim->fallback;
        size->count = 1;
    }
    if (!dim->spatial) {
        *kw_dim_field(problem, dim->offset) = size->value[0];
        return KW_OK;
    }
    if (size->count > 1 && size->count != problem->ndim) {
        return fail_extents(problem, size, size->count, err);
    }
    if (size->back_count > 1 && size->back_count != problem->ndim) {
        return fail_extents(problem, size, size->back_count, err);
    }
    spread_axes(kw_dim_field(problem, dim->offset), size->value, size->count, problem->ndim, dim->low);
    if (dim->back) {
        spread_axes(kw_dim_field(problem, dim->back), size->back_count ? size->back : size->value,
                    size->back_count ? size->back_count : size->count, problem->ndim, dim->low);
    }
    return KW_OK;
}

kw_status kw_problem_parse(kw_problem *problem, const char *text, kw_error *err) {
    kw_scan scan = kw_scan_string(text);
    kw_problem result;
    given sizes[KW_DIMS_MAX] = {0};
    given_epilogue epilogue = {0};
    kw_status status = read_dim_names(&result, scan, err);
    if (!status) {
        status = read_dim_sizes(&result, scan, sizes, &epilogue, err);
    }
    if (status) {
        return status;
    }
    if (result.layout == KW_LAYOUT_COUNT) {
        result.layout = result.op == KW_GEMM ? KW_RCR : KW_CHANNELS_LAST;
        for (int i = 0; i < KW_DIMS_MAX && result.op != KW_GEMM; i++) {
            int longer = sizes[i].count > sizes[i].back_count ? sizes[i].count : sizes[i].back_count;
            if (kw_dims(result.op)[i].spatial && longer > result.ndim) {
                result.ndim = longer;
            }
        }
        if (result.op != KW_GEMM && result.ndim == 0) {
            result.ndim = 1; /* no extents at all: the missing input is reported below */
        }
    }
    const kw_dim *dims = kw_dims(result.op);
    for (int i = 0; dims[i].letter; i++) {
        status = place_size(&result, &dims[i], &sizes[i], err);
        if (status) {
            return status;
        }
    }
    status = place_epilogue(&result, &epilogue, err);
    status = status ? status : kw_problem_check(&result, err);
    if (!status && !kw_problem_is_dense(&result)) {
        kw_pitches_normalize(&result);
    }
    if (!status) {
        result.filter_order = kw_filter_order_normal(&result);
    }
    if (!status) {
        *problem = result;
    }
    return status;
}
