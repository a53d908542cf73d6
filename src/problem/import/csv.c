/* csv.c: the columns as one table, whose rows say what a cell is and where it goes. All columns of the kind (convolution or GEMM) must be
 * there except those marked optional, so that a misspelt one is an error and not a default. Without ndim, as in the tile engine's files, depth
 * and dilation may be left out as well, and a column that is nearly one of them is an error. Cells are plain: no quotes. */
#include "problem/import/csv.h"

#include "base/format/csv.h"
#include "base/nearest.h"

#include <string.h>

enum { OPTIONAL = 1, CONV = 2, GEMM = 4, TILE_ENGINE = 8 }; /* TILE_ENGINE: optional in a file without ndim */

/* A row as numbers, before it is a problem. */
typedef struct row {
    int64_t ndim, g, n, c, k, in[3], filter[3], stride[3], pad[3], dilation[3], pad_back[3], out[3];
    int64_t batch, gemm_m, gemm_n, gemm_k;
} row;

typedef struct column {
    const char *name;
    unsigned flags;
    int axis;              /* of a spatial column: 0 to 2; else -1 */
    int64_t low, fallback; /* fallback: of an unused axis, or where an optional column is missing */
    size_t offset;
} column;

/* Rows of the table that code names; three in a row from PAD_BACK and from OUT. */
enum { NAME = 0, NDIM = 1, PAD_BACK = 21, OUT = 24 };

static const column columns[] = {
    [NAME] = {"name", CONV | GEMM | OPTIONAL, -1, 0, 0, 0},
    [NDIM] = {"ndim", CONV | TILE_ENGINE, -1, 1, 0, offsetof(row, ndim)},
    {"G", CONV, -1, 1, 0, offsetof(row, g)},
    {"N", CONV, -1, 1, 0, offsetof(row, n)},
    {"C", CONV, -1, 1, 0, offsetof(row, c)},
    {"K", CONV, -1, 1, 0, offsetof(row, k)},
    {"Di", CONV | TILE_ENGINE, 0, 1, 1, offsetof(row, in[0])},
    {"Hi", CONV, 1, 1, 1, offsetof(row, in[1])},
    {"Wi", CONV, 2, 1, 1, offsetof(row, in[2])},
    {"Z", CONV | TILE_ENGINE, 0, 1, 1, offsetof(row, filter[0])},
    {"Y", CONV, 1, 1, 1, offsetof(row, filter[1])},
    {"X", CONV, 2, 1, 1, offsetof(row, filter[2])},
    {"stride_d", CONV | TILE_ENGINE, 0, 1, 1, offsetof(row, stride[0])},
    {"stride_h", CONV, 1, 1, 1, offsetof(row, stride[1])},
    {"stride_w", CONV, 2, 1, 1, offsetof(row, stride[2])},
    {"pad_d", CONV | TILE_ENGINE, 0, 0, 0, offsetof(row, pad[0])},
    {"pad_h", CONV, 1, 0, 0, offsetof(row, pad[1])},
    {"pad_w", CONV, 2, 0, 0, offsetof(row, pad[2])},
    {"dil_d", CONV | TILE_ENGINE, 0, 1, 1, offsetof(row, dilation[0])},
    {"dil_h", CONV | TILE_ENGINE, 1, 1, 1, offsetof(row, dilation[1])},
    {"dil_w", CONV | TILE_ENGINE, 2, 1, 1, offsetof(row, dilation[2])},
    [PAD_BACK] = {"padr_d", CONV | OPTIONAL, 0, INT64_MIN, 0, offsetof(row, pad_back[0])},
    {"padr_h", CONV | OPTIONAL, 1, INT64_MIN, 0, offsetof(row, pad_back[1])},
    {"padr_w", CONV | OPTIONAL, 2, INT64_MIN, 0, offsetof(row, pad_back[2])},
    [OUT] = {"Do", CONV | OPTIONAL, 0, 1, 1, offsetof(row, out[0])},
    {"Ho", CONV | OPTIONAL, 1, 1, 1, offsetof(row, out[1])},
    {"Wo", CONV | OPTIONAL, 2, 1, 1, offsetof(row, out[2])},
    {"batch", GEMM | OPTIONAL, -1, 1, 1, offsetof(row, batch)},
    {"M", GEMM, -1, 1, 0, offsetof(row, gemm_m)},
    {"N", GEMM, -1, 1, 0, offsetof(row, gemm_n)},
    {"K", GEMM, -1, 1, 0, offsetof(row, gemm_k)},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static bool has_column(kw_word line, const char *name) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word cell;
    while (kw_scan_field(&scan, ',', &cell)) {
        if (kw_word_is(kw_csv_trim(cell), name)) {
            return true;
        }
    }
    return false;
}

/* dil_h is the tile engine's dilation_h. */
static bool is_column(kw_word cell, const char *name) {
    static const char long_form[] = "dilation_";
    size_t size = sizeof long_form - 1;
    bool long_name = !strncmp(name, "dil_", 4) && cell.size > size && !memcmp(cell.at, long_form, size);
    return kw_word_is(cell, name) || (long_name && kw_word_is((kw_word){cell.at + size, cell.size - size}, name + 4));
}

static int find_csv_column(kw_word cell, unsigned kind) {
    for (int i = 0; i < COLUMNS; i++) {
        if (columns[i].flags & kind && is_column(cell, columns[i].name)) {
            return i;
        }
    }
    return -1;
}

/* A name that is nearly a column that may be missing would quietly stand for its default. */
static kw_status check_unknown_column(kw_word cell, bool has_ndim, kw_error *err) {
    static const char *const optional[] = {"padr_d padr_h padr_w", "stride_d pad_d dil_d dil_h dil_w dilation_d dilation_h dilation_w"};
    char near[KW_NEAREST_MAX];
    for (int i = 0; i < 2 - has_ndim && cell.size > 3; i++) {
        if (kw_nearest(near, cell, optional[i])) {
            return kw_fail(err, KW_MALFORMED, "csv: column %.*s is not known; did you mean %s", KW_WORD(cell), near);
        }
    }
    return KW_OK;
}

kw_status kw_csv_header(kw_csv *csv, kw_word line, kw_op op, kw_dtype dtype, kw_error *err) {
    unsigned kind = has_column(line, "M") ? GEMM : CONV;
    bool has_ndim = has_column(line, columns[NDIM].name);
    bool seen[COLUMNS] = {0};
    kw_csv result = {.op = op == KW_OP_COUNT ? (kind == GEMM ? KW_GEMM : KW_CONV_FWD) : op,
                     .dtype = dtype == KW_DTYPE_COUNT ? KW_FP32 : dtype};
    if ((result.op == KW_GEMM) != (kind == GEMM)) {
        return kw_fail(err, KW_ILLEGAL, "csv: the columns are of a %s, not of %s; ask for %s",
                       kind == GEMM ? "GEMM (M,N,K)" : "convolution", kw_op_name(result.op),
                       kind == GEMM ? "gemm" : "conv_fwd, conv_bwd_data or conv_bwd_weight");
    }
    kw_scan scan = {line.at, line.at + line.size};
    kw_word cell;
    while (kw_scan_field(&scan, ',', &cell)) {
        if (result.count == KW_CSV_COLUMNS) {
            return kw_fail(err, KW_MALFORMED, "csv: the header has more than %d columns; drop those that are not sizes", KW_CSV_COLUMNS);
        }
        int found = find_csv_column(kw_csv_trim(cell), kind);
        if (found >= 0 && seen[found]) {
            return kw_fail(err, KW_MALFORMED, "csv: column %s is there twice; keep one", columns[found].name);
        }
        if (found >= 0) {
            seen[found] = true;
        } else if (kind == CONV && check_unknown_column(kw_csv_trim(cell), has_ndim, err)) {
            return KW_MALFORMED;
        }
        result.column[result.count++] = (int8_t)found;
    }
    unsigned optional = has_ndim ? OPTIONAL : OPTIONAL | TILE_ENGINE;
    for (int i = 0; i < COLUMNS; i++) {
        if (columns[i].flags & kind && !(columns[i].flags & optional) && !seen[i]) {
            return kw_fail(err, KW_MALFORMED, "csv: the header \"%.*s\" lacks column %s of a %s", KW_WORD(line), columns[i].name,
                           kind == GEMM ? "GEMM (M,N,K)"
                                        : "convolution (G,N,C,K,Hi,Wi,Y,X,stride_h,...,pad_h,... of the tile engine, or with ndim "
                                          "ndim,G,N,C,K,Di,Hi,Wi,Z,Y,X,stride_d,...,pad_d,...,dil_d,...)");
        }
    }
    *csv = result;
    return KW_OK;
}

/* Finds the cells of the known columns; those that the file does not have stay NULL. */
static kw_status split_cells(kw_word cells[COLUMNS], const kw_csv *csv, kw_word line, kw_error *err) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word cell;
    int count = 0;
    while (kw_scan_field(&scan, ',', &cell)) {
        if (count < csv->count && csv->column[count] >= 0) {
            cells[csv->column[count]] = kw_csv_trim(cell);
        }
        count++;
        if (count > KW_CSV_COLUMNS) {
            break;
        }
    }
    if (count != csv->count) {
        return kw_fail(err, KW_MALFORMED, "csv: the row has %s%d cells, the header %d; give each row one cell a column",
                       count > KW_CSV_COLUMNS ? "over " : "", count > KW_CSV_COLUMNS ? KW_CSV_COLUMNS : count, csv->count);
    }
    return KW_OK;
}

static kw_status take_cell(row *numbers, const column *of, kw_word cell, int64_t ndim, kw_error *err) {
    int64_t value = of->fallback;
    bool unused = of->axis >= 0 && of->axis < 3 - ndim;
    if (cell.size ? !kw_word_int(cell, of->low, INT64_MAX, &value) : !unused) {
        if (!cell.size) {
            return kw_fail(err, KW_MALFORMED, "csv: column %s is empty; every row needs it", of->name);
        }
        return of->low == INT64_MIN ? kw_fail(err, KW_MALFORMED, "csv: column %s is \"%.*s\", not a whole number", of->name, KW_WORD(cell))
                                    : kw_fail(err, KW_MALFORMED, "csv: column %s is \"%.*s\", not a whole number of at least %d", of->name,
                                              KW_WORD(cell), (int)of->low);
    }
    if (unused && value != of->fallback) {
        return kw_fail(err, KW_ILLEGAL, "csv: column %s is %lld, but with ndim=%d that axis is not used; set it to %d or leave it empty",
                       of->name, (long long)value, (int)ndim, (int)of->fallback);
    }
    memcpy((char *)numbers + of->offset, &value, sizeof value);
    return KW_OK;
}

/* Without the column: three where a cell of the depth says something, else two. */
static int64_t guess_ndim(const kw_word cells[COLUMNS]) {
    int64_t ndim = 2, value;
    for (int i = NDIM + 1; i < COLUMNS; i++) {
        bool given = columns[i].axis == 0 && cells[i].size;
        ndim = given && !(kw_word_int(cells[i], INT64_MIN, INT64_MAX, &value) && value == columns[i].fallback) ? 3 : ndim;
    }
    return ndim;
}

static kw_status read_cells(row *numbers, const kw_csv *csv, const kw_word cells[COLUMNS], kw_error *err) {
    unsigned kind = csv->op == KW_GEMM ? GEMM : CONV;
    int64_t ndim = 0;
    if (kind == CONV && !cells[NDIM].at) {
        ndim = guess_ndim(cells);
        numbers->ndim = ndim;
    } else if (kind == CONV && !kw_word_int(cells[NDIM], 1, 3, &ndim)) {
        return kw_fail(err, KW_MALFORMED, "csv: column ndim is \"%.*s\", not 1, 2 or 3", KW_WORD(cells[NDIM]));
    }
    for (int i = NDIM; i < COLUMNS; i++) {
        if (!(columns[i].flags & kind) || (i == NDIM && !cells[i].at)) {
            continue;
        }
        if (!cells[i].at) { /* an optional column that the file does not have */
            memcpy((char *)numbers + columns[i].offset, &columns[i].fallback, sizeof(int64_t));
            continue;
        }
        kw_status status = take_cell(numbers, &columns[i], cells[i], ndim, err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

static void make_csv_conv(kw_problem *problem, const row *numbers, const kw_word cells[COLUMNS]) {
    kw_conv_dims *conv = &problem->conv;
    problem->layout = KW_CHANNELS_LAST;
    problem->ndim = (int32_t)numbers->ndim;
    *conv = (kw_conv_dims){.n = numbers->n, .g = numbers->g, .c = numbers->c, .k = numbers->k};
    memcpy(conv->in, numbers->in, sizeof conv->in);
    memcpy(conv->filter, numbers->filter, sizeof conv->filter);
    memcpy(conv->stride, numbers->stride, sizeof conv->stride);
    memcpy(conv->dilation, numbers->dilation, sizeof conv->dilation);
    memcpy(conv->pad, numbers->pad, sizeof conv->pad);
    for (int axis = 0; axis < 3; axis++) {
        conv->pad_back[axis] = cells[PAD_BACK + axis].at ? numbers->pad_back[axis] : numbers->pad[axis];
    }
}

/* Output columns say nothing new; where they disagree the row is not what it seems. */
static kw_status check_outputs(const kw_problem *problem, const row *numbers, const kw_word cells[COLUMNS], kw_error *err) {
    int64_t out[3];
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        if (cells[OUT + axis].at && numbers->out[axis] != out[axis]) {
            return kw_fail(err, KW_ILLEGAL, "csv: column %s is %lld, but the other columns make it %lld; check sizes and padding",
                           columns[OUT + axis].name, (long long)numbers->out[axis], (long long)out[axis]);
        }
    }
    return KW_OK;
}

kw_status kw_csv_row(kw_problem *problem, kw_word *name, const kw_csv *csv, kw_word line, kw_error *err) {
    kw_word cells[COLUMNS] = {0};
    row numbers = {0};
    kw_status status = split_cells(cells, csv, line, err);
    if (!status) {
        status = read_cells(&numbers, csv, cells, err);
    }
    if (status) {
        return status;
    }
    kw_problem result;
    memset(&result, 0, sizeof result);
    result.op = csv->op;
    result.dtype = csv->dtype;
    if (csv->op == KW_GEMM) {
        result.gemm = (kw_gemm_dims){.batch = numbers.batch, .m = numbers.gemm_m, .n = numbers.gemm_n, .k = numbers.gemm_k};
    } else {
        make_csv_conv(&result, &numbers, cells);
    }
    status = kw_problem_check(&result, err);
    if (!status && csv->op != KW_GEMM) {
        status = check_outputs(&result, &numbers, cells, err);
    }
    if (!status) {
        *problem = result;
        if (name) {
            *name = cells[NAME].at ? cells[NAME] : (kw_word){line.at, 0};
        }
    }
    return status;
}
