/* import_matmul.c: the descriptor of benchdnn's matmul driver, "MxK:KxN" with batches in front, "16x128x64:16x64x128", and where wanted the
 * result's extents and a name behind. Weights without batches of their own (extent 1) under batches of the source are one product of all
 * rows. Tags say how each matrix is stored: its letters in order are row-major, the last two exchanged column-major. */
#include "problem/import/import.h"

#include "base/math.h"

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

kw_status kw_import_matmul(kw_problem *problem, kw_word text, const kw_matmul_tags *tags, kw_error *err) {
    static const kw_layout layouts[2][2] = {{KW_RRR, KW_RCR}, {KW_CRR, KW_CCR}}; /* by columns of source and of weights */
    matrix all[MATRICES];
    int64_t source, weights;
    bool a = false, b = false, c = false, good = true;
    kw_status status = read_matrices(all, text, err);
    status = status ? status : count_batches(&source, &weights, all, text, err);
    status = status ? status : check_result(all, text, err);
    int dims = all[0].count;
    status = status ? status : read_tag(&a, "--stag", tags->source, dims, err);
    status = status ? status : read_tag(&b, "--wtag", tags->weights, dims, err);
    status = status ? status : read_tag(&c, "--dtag", tags->result, dims, err);
    if (status) {
        return status;
    }
    int64_t m = all[0].dim[dims - 2], k = all[0].dim[dims - 1], n = all[1].dim[dims - 1];
    if (all[1].dim[dims - 2] != k) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn matmul descriptor \"%.*s\": the source has k %lld and the weights %lld", KW_WORD(text),
                       (long long)k, (long long)all[1].dim[dims - 2]);
    }
    bool one = weights == 1 && source > 1; /* all rows against the same weights */
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
    return KW_OK;
}
