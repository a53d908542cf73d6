/* import_matmul.c: the descriptor of benchdnn's matmul driver, "MxK:KxN" with batches in front, "16x128x64:16x64x128", and where wanted the
 * result's extents and a name behind. Weights without batches of their own (extent 1) under batches of the source are one product of all
 * rows. Tags say how each matrix is stored: its letters in order are row-major, the last two exchanged column-major. */
#include "problem/import/import.h"

#include "base/math.h"
#include "problem/tensors/pitch.h"

enum { DIMS_MAX = 12, MATRICES = 3 };

typedef struct matrix {
    int64_t dim[DIMS_MAX];
    int count;
} matrix;

/* Extents with 'x' between them. */
static bool scan_extents(kw_scan *scan, matrix *m) {
    m->count = 0;
    do {
        if (m->count == DIMS_MAX || !kw_scan_int(scan, 1, INT64_MAX, &m->dim[m->count])) {
            return false;
        }
        m->count++;
    } while (kw_scan_char(scan, 'x'));
    return true;
}

bool kw_import_matmul_names(kw_word word) {
    matrix m;
    if (!word.size) {
        return false; /* no descriptor, which points nowhere */
    }
    kw_scan scan = {word.at, word.at + word.size};
    return scan_extents(&scan, &m) && m.count >= 2 && kw_scan_char(&scan, ':');
}

static kw_status read_matrices(matrix all[MATRICES], kw_word text, kw_error *err) {
    kw_scan scan = {text.at, text.at + text.size};
    int count = 0;
    bool good = true;
    do {
        good = count < MATRICES && scan_extents(&scan, &all[count]);
        count += good;
    } while (good && kw_scan_char(&scan, ':'));
    kw_scan_char(&scan, '_');
    if (!good || count < 2 || (scan.at < scan.end && *scan.at != 'n')) { /* n: the rest is the problem's name */
        return kw_fail(err, KW_MALFORMED, "benchdnn matmul descriptor \"%.*s\" does not read MxK:KxN, e.g. 128x768:768x768", KW_WORD(text));
    }
    all[2].count = count == MATRICES ? all[2].count : 0;
    int dims = all[0].count;
    if (dims < 2 || all[1].count != dims || (all[2].count && all[2].count != dims)) {
        return kw_fail(err, KW_MALFORMED, "benchdnn matmul descriptor \"%.*s\": the matrices must have equally many extents, 2 or more",
                       KW_WORD(text));
    }
    return KW_OK;
}

/* Products of the batch extents; weights may have none of their own. */
static kw_status count_batches(int64_t *source, int64_t *weights, const matrix all[MATRICES], kw_word text, kw_error *err) {
    bool good = true, equal = true;
    *source = *weights = 1;
    for (int i = 0; i < all[0].count - 2; i++) {
        equal = equal && all[0].dim[i] == all[1].dim[i];
        *source = kw_mul(*source, all[0].dim[i], &good);
        *weights = kw_mul(*weights, all[1].dim[i], &good);
    }
    if (!good || (!equal && *weights != 1)) {
        return kw_fail(err, KW_ILLEGAL,
                       "benchdnn matmul descriptor \"%.*s\": batches of source and weights must be equal, or those of the weights 1",
                       KW_WORD(text));
    }
    return KW_OK;
}

static kw_status check_result(const matrix all[MATRICES], kw_word text, kw_error *err) {
    int dims = all[0].count;
    for (int i = 0; i < all[2].count; i++) {
        int64_t is = i == dims - 2 ? all[0].dim[i] : i == dims - 1 ? all[1].dim[i] : kw_max(all[0].dim[i], all[1].dim[i]);
        if (all[2].dim[i] != is) {
            return kw_fail(err, KW_ILLEGAL, "benchdnn matmul descriptor \"%.*s\": the result's extent %d is %lld, but must be %lld",
                           KW_WORD(text), i + 1, (long long)all[2].dim[i], (long long)is);
        }
    }
    return KW_OK;
}

/* Whether a tag stores the matrices column by column. any and none leave it row by row. */
static kw_status read_tag(bool *columns, const char *option, kw_word tag, int dims, kw_error *err) {
    bool rows = true;
    *columns = tag.size == (size_t)dims;
    if (!tag.at || kw_word_is(tag, "any") || kw_word_is(tag, "abx")) {
        *columns = false;
        return KW_OK;
    }
    for (int i = 0; i < dims && (size_t)i < tag.size; i++) {
        int swapped = i == dims - 2 ? dims - 1 : i == dims - 1 ? dims - 2 : i;
        rows = rows && tag.at[i] == 'a' + i;
        *columns = *columns && tag.at[i] == 'a' + swapped;
    }
    if ((rows && tag.size == (size_t)dims) || *columns) {
        return KW_OK;
    }
    return kw_fail(err, KW_ILLEGAL,
                   "benchdnn line: %s=%.*s is not possible here; use any, or the letters in order with the last two exchanged or not",
                   option, KW_WORD(tag));
}

static kw_status fail_strides(kw_word text, const char *why, kw_error *err) {
    return kw_fail(err, KW_ILLEGAL, "benchdnn line: --strides=%.*s is not possible here: %s", KW_WORD(text), why);
}

/* "8x4x1:24x6x1:21x7x1", of which any may be left out: said[i].count is 0 then. */
static kw_status read_strides(matrix said[MATRICES], kw_word text, int dims, kw_error *err) {
    if (!text.at) {
        return KW_OK;
    }
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word;
    int count = 0;
    while (kw_scan_field(&scan, ':', &word)) {
        kw_scan one = {word.at, word.at + word.size};
        if (count == MATRICES || (word.size && (!scan_extents(&one, &said[count]) || one.at < one.end || said[count].count != dims))) {
            return fail_strides(text, "it does not read like 8x4x1:24x6x1:21x7x1, a number for each extent", err);
        }
        count++;
    }
    return KW_OK;
}

/* Rows or columns, the distance of lines and that of matrices, of a matrix whose strides are said. */
static kw_status take_strides(kw_problem *problem, kw_tensor tensor, bool *columns, const matrix *is, const matrix *stride, kw_word text,
                              kw_error *err) {
    int rows = is->count - 2, lines;
    *columns = stride->dim[rows] == 1 && stride->dim[rows + 1] != 1 && is->dim[rows + 1] > 1;
    lines = rows + *columns;
    if (!*columns && stride->dim[rows + 1] != 1 && is->dim[rows + 1] > 1) {
        return fail_strides(text, "of a matrix' last two strides one must be 1", err);
    }
    int64_t batches = 1;
    bool good = true;
    for (int i = rows - 1; i >= 0; i--) {
        batches *= is->dim[i]; /* count_batches() has found it small enough */
        if (i > 0 && is->dim[i - 1] > 1 && (stride->dim[i - 1] != kw_mul(stride->dim[i], is->dim[i], &good) || !good)) {
            return fail_strides(text, "batches must be evenly apart", err);
        }
    }
    problem->pitch[tensor][0] = stride->dim[lines];
    problem->pitch[tensor][1] = batches > 1 ? stride->dim[rows - 1] : 0;
    return KW_OK;
}

/* The axes of the result, batches, m and n, as masks have them. */
static void take_axes(kw_import_attribute *axes, const matrix all[MATRICES]) {
    int dims = all[0].count;
    axes->all_axes = (1u << dims) - 1;
    axes->channel_axis = 1u << (dims - 1);
    axes->single_axes = 0;
    for (int i = 0; i < dims; i++) {
        int64_t extent = i == dims - 1 ? all[1].dim[i] : i == dims - 2 ? all[0].dim[i] : kw_max(all[0].dim[i], all[1].dim[i]);
        axes->single_axes |= extent == 1 ? 1u << i : 0;
    }
}

kw_status kw_import_matmul(kw_problem *problem, kw_import_attribute *axes, kw_word text, const kw_matmul_tags *tags, kw_error *err) {
    static const kw_layout layouts[2][2] = {{KW_RRR, KW_RCR}, {KW_CRR, KW_CCR}}; /* by columns of source and of weights */
    static const kw_tensor tensors[MATRICES] = {KW_X, KW_W, KW_Y};
    matrix all[MATRICES], strides[MATRICES] = {{.count = 0}};
    int64_t source, weights;
    bool a = false, b = false, c = false, good = true;
    kw_status status = read_matrices(all, text, err);
    status = status ? status : count_batches(&source, &weights, all, text, err);
    status = status ? status : check_result(all, text, err);
    int dims = all[0].count;
    status = status ? status : read_tag(&a, "--stag", tags->source, dims, err);
    status = status ? status : read_tag(&b, "--wtag", tags->weights, dims, err);
    status = status ? status : read_tag(&c, "--dtag", tags->result, dims, err);
    status = status ? status : read_strides(strides, tags->strides, dims, err);
    bool *const columns[MATRICES] = {&a, &b, &c};
    for (int i = 0; i < MATRICES && !status; i++) {
        matrix result = all[0];
        result.dim[dims - 1] = all[1].dim[dims - 1];
        status = strides[i].count
                     ? take_strides(problem, tensors[i], columns[i], i == 2 ? &result : &all[i], &strides[i], tags->strides, err)
                     : KW_OK;
    }
    if (status) {
        return status;
    }
    int64_t m = all[0].dim[dims - 2], k = all[0].dim[dims - 1], n = all[1].dim[dims - 1];
    if (all[1].dim[dims - 2] != k) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn matmul descriptor \"%.*s\": the source has k %lld and the weights %lld", KW_WORD(text),
                       (long long)k, (long long)all[1].dim[dims - 2]);
    }
    bool one = weights == 1 && source > 1; /* all rows against the same weights */
    if (one && tags->strides.at && !kw_word_is(tags->strides, "::")) {
        return fail_strides(tags->strides, "batches against one matrix of weights are one product of all rows", err);
    }
    if (c || (one && a)) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn line: %s",
                       c ? "--dtag: the result is stored row by row here; use ab or any"
                         : "--stag: batches against one matrix of weights must be stored row by row");
    }
    m = one ? kw_mul(source, m, &good) : m;
    if (!good) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn matmul descriptor \"%.*s\": too many rows", KW_WORD(text));
    }
    problem->op = KW_GEMM;
    problem->layout = layouts[a][b];
    problem->gemm = (kw_gemm_dims){.batch = one ? 1 : source, .m = m, .n = n, .k = k};
    kw_pitches_normalize(problem);
    take_axes(axes, all);
    return KW_OK;
}
