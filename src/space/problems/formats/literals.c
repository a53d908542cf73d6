/* literals.c: each problem becomes a header and a row of a CSV file, so that names and limits of sizes stand once, in
 * problem/import/csv.c. */
#include "space/problems/formats/literals.h"

#include "base/text.h"
#include "json/json_read.h"
#include "problem/import/csv.h"
#include "problem/names/names.h"
#include "space/ck/fields.h"
#include "space/problems/formats/lines.h"

#include <stdlib.h>
#include <string.h>

/* A problem in the making. */
typedef struct literal {
    kw_text header, row;
    char name[64];
    kw_op op;         /* KW_OP_COUNT: not said */
    kw_dtype dtype;   /* KW_DTYPE_COUNT: not said */
    kw_layout layout; /* KW_LAYOUT_COUNT: not said */
    int32_t ndim;     /* of the layout */
} literal;

static void start_literal(literal *l) {
    kw_text_drop(&l->header);
    kw_text_drop(&l->row);
    *l = (literal){.op = KW_OP_COUNT, .dtype = KW_DTYPE_COUNT, .layout = KW_LAYOUT_COUNT};
}

static void drop_literal(literal *l) {
    kw_text_drop(&l->header);
    kw_text_drop(&l->row);
}

static bool has_name(const literal *l, const char *name) {
    kw_scan scan = kw_scan_string(kw_text_string(&l->header));
    kw_word word;
    while (l->header.size && kw_scan_field(&scan, ',', &word)) {
        if (kw_word_is(word, name)) {
            return true;
        }
    }
    return false;
}

/* A name that would be two columns is one that is not known. */
static bool is_plain_name(kw_word key) {
    for (size_t i = 0; i < key.size; i++) {
        if ((unsigned char)key.at[i] <= ' ' || key.at[i] == ',') {
            return false;
        }
    }
    return key.size > 0;
}

static kw_status add_size(literal *l, kw_word key, int64_t value, kw_error *err) {
    if (!is_plain_name(key)) {
        return kw_fail(err, KW_MALFORMED, "\"%.*s\" is not known", KW_WORD(key));
    }
    if (kw_word_is(key, "split_k")) {
        return KW_OK; /* of a launch: here the kernel decides it */
    }
    kw_text_addf(&l->header, "%s%.*s", l->header.size ? "," : "", (int)key.size, key.at);
    kw_text_addf(&l->row, "%s%lld", l->row.size ? "," : "", (long long)value);
    return KW_OK;
}

static kw_status add_text(literal *l, kw_word key, kw_word value, kw_error *err) {
    char text[64];
    bool known = kw_word_copy(text, sizeof text, value);
    if (kw_word_is(key, "name")) {
        kw_word_copy(l->name, sizeof l->name, value);
        return KW_OK;
    }
    if (kw_word_is(key, "direction") || kw_word_is(key, "variant")) {
        known = known && kw_variant_find(&l->op, text);
    } else if (kw_word_is(key, "dtype") || kw_word_is(key, "data_type") || kw_word_is(key, "datatype")) {
        known = kw_dtype_of_word(&l->dtype, value) && kw_dtype_is_input(l->dtype);
    } else if (kw_word_is(key, "layout")) {
        known = kw_layout_of_word(&l->layout, &l->ndim, value);
    } else {
        return kw_fail(err, KW_MALFORMED, "%.*s is \"%.*s\"; a size is a whole number, and words are direction, dtype, layout and name",
                       KW_WORD(key), KW_WORD(value));
    }
    return known ? KW_OK : kw_fail(err, KW_MISSING, "%.*s \"%.*s\" is not known", KW_WORD(key), KW_WORD(value));
}

static void add_defaults(literal *l) {
    static const struct {
        const char *name;
        int value;
    } defaults[] = {{"N", 1}, {"G", 1}, {"stride_h", 1}, {"stride_w", 1}, {"pad_h", 0}, {"pad_w", 0}};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults && !has_name(l, "M"); i++) {
        if (!has_name(l, defaults[i].name)) {
            kw_text_addf(&l->header, "%s%s", l->header.size ? "," : "", defaults[i].name);
            kw_text_addf(&l->row, "%s%d", l->row.size ? "," : "", defaults[i].value);
        }
    }
}

/* The first name that is no column. */
static kw_status check_names(const literal *l, const kw_csv *csv, kw_error *err) {
    kw_scan scan = kw_scan_string(kw_text_string(&l->header));
    kw_word word;
    for (int i = 0; i < csv->count && kw_scan_field(&scan, ',', &word); i++) {
        if (csv->column[i] < 0) {
            return kw_fail(err, KW_MISSING, "\"%.*s\" is not known: names are those of CSV columns (docs/problems/problem-text.md)",
                           KW_WORD(word));
        }
    }
    return KW_OK;
}

static kw_status take_literal_layout(kw_problem *problem, const literal *l, kw_error *err) {
    if (l->layout == KW_LAYOUT_COUNT) {
        return KW_OK;
    }
    bool product = problem->op == KW_GEMM;
    if (kw_layout_is_gemm(l->layout) != product || (!product && l->ndim != problem->ndim)) {
        return kw_fail(err, KW_ILLEGAL, "layout %s is not one of %s", kw_layout_name(l->layout, l->ndim), kw_op_name(problem->op));
    }
    problem->layout = l->layout;
    return kw_problem_check(problem, err);
}

/* Whether to go on: *more. */
static kw_status finish_literal(literal *l, const kw_list_reader *how, bool *more, kw_error *err) {
    kw_csv csv;
    kw_problem problem;
    add_defaults(l);
    if (l->header.failed || l->row.failed) {
        return kw_fail_memory(err, "a problem list");
    }
    kw_op op = l->op != KW_OP_COUNT ? l->op : has_name(l, "M") ? KW_OP_COUNT : how->op;
    kw_word header = {l->header.data, l->header.size}, row = {l->row.data, l->row.size};
    kw_status status = kw_csv_header(&csv, header, op, l->dtype != KW_DTYPE_COUNT ? l->dtype : how->dtype, err);
    status = status ? status : check_names(l, &csv, err);
    status = status ? status : kw_csv_row(&problem, NULL, &csv, row, err);
    status = status ? status : take_literal_layout(&problem, l, err);
    if (!status) {
        *more = how->visit(how->user, l->name, &problem);
    }
    return status;
}

/* The message with its place; what the CSV reader says of its own is cut off. */
static kw_status fail_at(kw_error *err, kw_status status, const kw_error *why, const char *source, const char *what, size_t number) {
    const char *text = !strncmp(why->text, "csv: ", 5) ? why->text + 5 : why->text;
    return kw_fail(err, status, "%.100s: %s %zu: %s", source, what, number, text);
}

/* --- JSON --------------------------------------------------------------------------------------------------------------------- */

bool kw_literals_are_json(const char *text, size_t size) {
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", text[at]) && text[at]) {
        at++;
    }
    return at < size && (text[at] == '{' || text[at] == '[');
}

/* Members of an object; what begins with _ is a comment. */
static kw_status take_members(literal *l, const json_t *object, kw_error *err) {
    const char *key;
    json_t *value;
    kw_status status = KW_OK;
    json_object_foreach((json_t *)object, key, value) {
        kw_word name = {key, strlen(key)};
        if (status || *key == '_' || json_is_null(value) || !strcmp(key, "problems")) {
            continue;
        }
        if (json_is_integer(value)) {
            status = add_size(l, name, json_integer_value(value), err);
        } else if (json_is_string(value)) {
            status = add_text(l, name, (kw_word){json_string_value(value), json_string_length(value)}, err);
        } else {
            status = kw_fail(err, KW_MALFORMED, "\"%.60s\" is neither a whole number nor a word", key);
        }
    }
    return status;
}

/* Our own line, in quotes. */
static kw_status take_line(const kw_list_reader *how, const json_t *line, bool *more, kw_error *err) {
    char *copy = strdup(json_string_value(line));
    if (!copy) {
        return kw_fail_memory(err, "a problem list");
    }
    kw_status status = kw_list_read_lines(how, "line", copy, json_string_length(line), err);
    *more = true;
    free(copy);
    return status;
}

static kw_status take_json_problem(literal *l, const kw_list_reader *how, const json_t *shared, const json_t *item, bool *more,
                                   kw_error *err) {
    if (json_is_string(item) && !kw_literals_are_json(json_string_value(item), json_string_length(item))) {
        return take_line(how, item, more, err);
    }
    if (!json_is_object(item)) {
        return kw_fail(err, KW_MALFORMED, "a problem is an object, {\"M\": 512, \"N\": 512, \"K\": 512}, or a line in quotes");
    }
    start_literal(l);
    kw_status status = take_members(l, shared, err);
    status = status ? status : take_members(l, item, err);
    return status ? status : finish_literal(l, how, more, err);
}

/* What a file of JSON that is no problem list may be. */
static const char *file_hint(const json_t *root) {
    static const struct {
        const char *key, *hint;
    } files[] = {{"instances", "; it holds kernels, which --kernels FILE reads"},
                 {"kernels", "; it holds kernels, which --kernels FILE reads"},
                 {"configs", "; it holds kernels, which --kernels FILE reads"},
                 {"trait_config", "; it says which kernels are wanted, which --traits FILE reads"},
                 {"tile_config", "; it says which kernels are wanted, which --traits FILE reads"},
                 {"context", "; `kwright problems extract FILE` reads a graph of cuDNN"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (json_object_get(root, files[i].key)) {
            return files[i].hint;
        }
    }
    return "";
}

kw_status kw_json_problems_read(const kw_list_reader *how, const char *source, const char *text, size_t size, kw_error *err) {
    json_t *root = NULL;
    kw_status status = kw_json_read(&root, source, text, size, err);
    const json_t *list = json_is_array(root) ? root : json_object_get(root, "problems");
    literal l = {0};
    bool more = true;
    if (!status && !json_is_array(list)) {
        status =
            kw_fail(err, KW_MALFORMED, "%.200s: a problem list in JSON is {\"problems\": [{\"M\": 512, \"N\": 512, \"K\": 512}, ...]}%s",
                    source, file_hint(root));
    }
    for (size_t i = 0; !status && more && i < json_array_size(list); i++) {
        kw_error why = {0};
        status = take_json_problem(&l, how, json_is_object(root) ? root : NULL, json_array_get(list, i), &more, &why);
        if (status) {
            fail_at(err, status, &why, source, "problem", i);
        }
    }
    drop_literal(&l);
    json_decref(root);
    return status;
}

/* --- Python ------------------------------------------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Behind a string that begins here: 'x', "x" or one in triple quotes. */
static const char *skip_string(const char *at, const char *end) {
    char quote = *at;
    bool triple = end - at >= 3 && at[1] == quote && at[2] == quote;
    at += triple ? 3 : 1;
    while (at < end && (triple || *at != '\n')) {
        if (*at == '\\') {
            at++;
        } else if (*at == quote && (!triple || (end - at >= 3 && at[1] == quote && at[2] == quote))) {
            return at + (triple ? 3 : 1);
        }
        at++;
    }
    return at < end ? at : end;
}

/* Behind blanks, ends of lines and comments. */
static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && *at && strchr(" \t\r\n\\#", *at)) {
        if (*at == '#') {
            while (at < end && *at != '\n') {
                at++;
            }
        } else {
            at++;
        }
    }
    return at;
}

static kw_word take_name(const char **at, const char *end) {
    kw_word word = {*at, 0};
    while (*at < end && is_letter(**at)) {
        (*at)++;
        word.size++;
    }
    return word;
}

/* One argument, NAME=VALUE. */
static kw_status take_argument(literal *l, const char **at, const char *end, kw_error *err) {
    kw_word name = take_name(at, end);
    *at = skip_blanks(*at, end);
    if (!name.size || *at == end || **at != '=') {
        return kw_fail(err, KW_MALFORMED, "an argument is NAME=VALUE");
    }
    *at = skip_blanks(*at + 1, end);
    if (*at < end && (**at == '"' || **at == '\'')) {
        const char *from = *at + 1;
        *at = skip_string(*at, end);
        size_t size = *at > from ? (size_t)(*at - from - 1) : 0;
        return add_text(l, name, (kw_word){from, size}, err);
    }
    const char *from = *at;
    while (*at < end && (is_letter(**at) || **at == '-')) {
        (*at)++;
    }
    kw_word value = {from, (size_t)(*at - from)};
    int64_t number;
    if (!kw_word_int(value, INT64_MIN, INT64_MAX, &number)) {
        return kw_fail(err, KW_MALFORMED,
                       "%.*s is no literal number: a module that computes its problems is not run; the published ones are sets (`kwright "
                       "problems`)",
                       KW_WORD(name));
    }
    return add_size(l, name, number, err);
}

/* From behind the opening bracket to behind the closing one. */
static kw_status take_call(literal *l, const char **at, const char *end, kw_error *err) {
    start_literal(l);
    kw_status status = KW_OK;
    *at = skip_blanks(*at, end);
    while (!status && *at < end && **at != ')') {
        status = take_argument(l, at, end, err);
        *at = skip_blanks(*at, end);
        if (!status && *at < end && **at == ',') {
            *at = skip_blanks(*at + 1, end);
        } else if (!status && *at < end && **at != ')') {
            status = kw_fail(err, KW_MALFORMED, "a comma or a bracket is wanted behind an argument, which is NAME=NUMBER");
        }
    }
    if (!status && *at == end) {
        return kw_fail(err, KW_MALFORMED, "its bracket is not closed");
    }
    *at += !status;
    return status;
}

/* The next call of something that ends in "Problem"; *at is then behind its bracket. A class of that name is none. */
static bool find_call(const char **at, const char *end) {
    kw_word before = {*at, 0};
    while (*at < end) {
        *at = skip_blanks(*at, end);
        if (*at == end) {
            break;
        }
        if (**at == '"' || **at == '\'') {
            *at = skip_string(*at, end);
            continue;
        }
        kw_word name = take_name(at, end);
        if (!name.size) {
            (*at)++;
            continue;
        }
        const char *next = skip_blanks(*at, end);
        bool problem = name.size >= 7 && !memcmp(name.at + name.size - 7, "Problem", 7);
        if (problem && next < end && *next == '(' && !kw_word_is(before, "class")) {
            *at = next + 1;
            return true;
        }
        before = name;
    }
    return false;
}

kw_status kw_python_problems_read(const kw_list_reader *how, const char *source, const char *text, size_t size, kw_error *err) {
    const char *at = text, *end = text + size;
    literal l = {0};
    kw_status status = KW_OK;
    bool more = true;
    size_t count = 0;
    for (; !status && more && find_call(&at, end); count++) {
        kw_error why = {0};
        status = take_call(&l, &at, end, &why);
        status = status ? status : finish_literal(&l, how, &more, &why);
        if (status) {
            fail_at(err, status, &why, source, "problem", count);
        }
    }
    if (!status && !count) {
        status = kw_fail(err, KW_MALFORMED, "%.200s: holds no call as GroupedConvProblem(N=1, C=64, K=64, Hi=56, Wi=56, Y=3, X=3)", source);
    }
    drop_literal(&l);
    return status;
}
