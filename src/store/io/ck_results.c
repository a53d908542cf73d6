/* ck_results.c: see ck_results.h. Whole objects are read by jansson; here are only the ways to them. */
#include "store/io/ck_results.h"

#include "base/format/number.h"
#include "json/json_read.h"
#include "problem/names/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SNIFFED = 64 << 10, WHERE_SIZE = 96 };

/* One measurement, before it is a row. */
typedef struct measurement {
    const char *kernel, *dtype, *layout, *fault;
    int64_t m, n, k, split_k;
    double ms, tflops;
    bool valid;
} measurement;

typedef struct results {
    const kw_ck_sink *sink;
    const kw_row *defaults;
    char where[WHERE_SIZE];
    kw_error *err;
} results;

/* --- a row ------------------------------------------------------------------------------------------------------------- */

static kw_status set_problem(kw_row *row, const measurement *m, kw_error *err) {
    kw_problem problem = {.op = KW_GEMM, .gemm = {.batch = 1, .m = m->m, .n = m->n, .k = m->k}};
    int32_t ndim;
    kw_word dtype = {m->dtype, strlen(m->dtype)}, layout = {m->layout, strlen(m->layout)};
    if (!kw_dtype_of_word(&problem.dtype, dtype)) {
        return kw_fail(err, KW_MISSING, "type \"%.40s\" is not one of " KW_DTYPE_WORDS(" "), m->dtype);
    }
    if (!kw_layout_of_word(&problem.layout, &ndim, layout) || !kw_layout_is_gemm(problem.layout)) {
        return kw_fail(err, KW_MISSING, "layout \"%.40s\" is not one of rcr rrr crr ccr", m->layout);
    }
    kw_status status = kw_problem_check(&problem, err);
    if (!status) {
        kw_problem_print(row->problem, sizeof row->problem, &problem);
    }
    return status;
}

static kw_status set_outcome(kw_record *record, const measurement *m, kw_error *err) {
    if (!m->valid) {
        record->outcome = KW_UNLAUNCHED;
        snprintf(record->detail, sizeof record->detail, "%.100s", m->fault && *m->fault ? m->fault : "not valid in the file it came from");
        return KW_OK;
    }
    if (!(m->ms > 0) || !isfinite(m->ms)) {
        return kw_fail(err, KW_ILLEGAL, "the time is %g ms; a valid run takes longer than nothing", m->ms);
    }
    double follows = 2.0 * (double)m->m * (double)m->n * (double)m->k / (m->ms * 1e9);
    if (m->tflops > 0 && fabs(m->tflops - follows) > 0.1 * follows + 0.01) {
        return kw_fail(err, KW_ILLEGAL, "tflops is %g, but sizes and time make it %.4g", m->tflops, follows);
    }
    record->outcome = KW_MISTRUSTED;
    record->time_ns = m->ms * 1e6;
    snprintf(record->detail, sizeof record->detail, "from a file that does not say whether the result was right");
    return KW_OK;
}

/* Splits of the depth are no part of a kernel's name there, but another kernel here. */
static kw_status set_kernel(kw_record *record, const measurement *m, kw_error *err) {
    int size = m->split_k > 1 ? snprintf(record->config, sizeof record->config, "%s_splitk%lld", m->kernel, (long long)m->split_k)
                              : snprintf(record->config, sizeof record->config, "%s", m->kernel);
    if (size < 1 || (size_t)size >= sizeof record->config) {
        return kw_fail(err, KW_MALFORMED, "the kernel's name has %d characters; a name has 1 to %d", size, KW_CONFIG_TEXT_MAX - 1);
    }
    return KW_OK;
}

static kw_status give_measurement(results *r, const measurement *m) {
    kw_row row = *r->defaults;
    kw_error why = {0};
    row.record = (kw_record){.cold = r->defaults->record.cold};
    kw_status status = set_kernel(&row.record, m, &why);
    status = status ? status : set_problem(&row, m, &why);
    status = status ? status : set_outcome(&row.record, m, &why);
    if (status) {
        r->sink->refuse(r->sink->user, r->where, &why);
        return KW_OK;
    }
    return r->sink->take(r->sink->user, &row, r->where, r->err);
}

/* --- values of objects ------------------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key, const char *fallback) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : fallback;
}

/* Logs have numbers in quotes as well. */
static double number_of(const json_t *object, const char *key, double fallback) {
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    double number = fallback;
    if (text && !kw_number_read((kw_word){text, strlen(text)}, &number)) {
        return NAN;
    }
    return json_is_number(value) ? json_number_value(value) : number;
}

/* 0, which no problem has, for what is no whole number. */
static int64_t size_of(const json_t *object, const char *key, int64_t fallback) {
    double number = number_of(object, key, (double)fallback);
    return number >= 1 && number <= 9e15 && number == floor(number) ? (int64_t)number : 0;
}

/* --- the JSON file ----------------------------------------------------------------------------------------------------- */

static kw_status read_benchmark(results *r, const json_t *metadata, const json_t *config, const json_t *benchmark) {
    measurement m = {
        .kernel = text_of(config, "name", text_of(benchmark, "kernel_name", "")),
        .dtype = text_of(config, "dtype", text_of(metadata, "dtype", "fp16")),
        .layout = text_of(config, "layout", text_of(metadata, "layout", "rcr")),
        .fault = text_of(benchmark, "error", NULL),
        .m = size_of(benchmark, "m", 0),
        .n = size_of(benchmark, "n", 0),
        .k = size_of(benchmark, "k", 0),
        .split_k = size_of(benchmark, "split_k", 1),
        .ms = number_of(benchmark, "avg_time_ms", 0),
        .tflops = number_of(benchmark, "tflops", 0),
        .valid = json_is_true(json_object_get(benchmark, "is_valid")),
    };
    return give_measurement(r, &m);
}

static kw_status read_results_file(results *r, kw_word text) {
    json_t *root = NULL;
    kw_status status = kw_json_read(&root, "CK's benchmark JSON", text.at, text.size, r->err);
    const json_t *metadata = json_object_get(root, "metadata"), *list = json_object_get(root, "results"), *kernel, *benchmark;
    size_t i, j;
    if (!status && !json_is_array(list)) {
        status = kw_fail(r->err, KW_MALFORMED, "there is no list \"results\"; this is not CK's benchmark JSON");
    }
    json_array_foreach(list, i, kernel) {
        const json_t *config = json_object_get(kernel, "kernel_config"), *benchmarks = json_object_get(kernel, "benchmarks");
        if (!status && (!json_is_object(config) || !json_is_array(benchmarks))) {
            kw_error why = {0};
            snprintf(r->where, sizeof r->where, "results[%zu]", i);
            kw_fail(&why, KW_MALFORMED, "a result has an object kernel_config and a list benchmarks");
            r->sink->refuse(r->sink->user, r->where, &why);
            continue;
        }
        json_array_foreach(benchmarks, j, benchmark) {
            snprintf(r->where, sizeof r->where, "results[%zu].benchmarks[%zu]", i, j);
            status = status ? status : read_benchmark(r, metadata, config, benchmark);
        }
    }
    json_decref(root);
    return status;
}

/* --- logs -------------------------------------------------------------------------------------------------------------- */

/* The shape that objects belong to, as the last line of a shape says. */
typedef struct shape {
    int64_t m, n, k;
    char dtype[16], layout[16];
} shape;

/* The value behind "KEY=" in a line. */
static bool find_value(kw_word *value, kw_word line, const char *key) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word;
    size_t size = strlen(key);
    while (kw_scan_word(&scan, &word)) {
        if (word.size > size + 1 && !memcmp(word.at, key, size) && word.at[size] == '=') {
            *value = (kw_word){word.at + size + 1, word.size - size - 1};
            return true;
        }
    }
    return false;
}

static bool read_shape_line(shape *s, kw_word line) {
    static const char *const keys[] = {"M", "N", "K"};
    shape read = {0};
    int64_t *const sizes[] = {&read.m, &read.n, &read.k};
    kw_word value = {"", 0};
    const char *at = memmem(line.at, line.size, "Shape ", 6);
    if (!at) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (!find_value(&value, line, keys[i]) || !kw_word_int(value, 1, INT64_MAX, sizes[i])) {
            return false;
        }
    }
    bool good = find_value(&value, line, "dtype") && kw_word_copy(read.dtype, sizeof read.dtype, value);
    good = good && find_value(&value, line, "layout") && kw_word_copy(read.layout, sizeof read.layout, value);
    *s = good ? read : *s;
    return good;
}

/* "rcr" out of layout_a, layout_b and layout_c, which say row or col somehow. */
static const char *layout_of(char layout[8], const json_t *problem, const char *fallback) {
    static const char *const keys[] = {"layout_a", "layout_b", "layout_c"};
    for (int i = 0; i < 3; i++) {
        const char *text = text_of(problem, keys[i], "");
        layout[i] = strcasestr(text, "row") ? 'r' : strcasestr(text, "col") ? 'c' : '?';
    }
    layout[3] = 0;
    return *text_of(problem, keys[0], "") ? layout : fallback;
}

static kw_status read_block(results *r, const shape *s, kw_word block) {
    json_t *root = NULL;
    kw_error why = {0};
    char layout[8];
    kw_status status = kw_json_read(&root, "the object", block.at, block.size, &why);
    const json_t *perf = json_object_get(root, "perf_result"), *problem = json_object_get(root, "problem");
    if (status == KW_NO_MEMORY) {
        return kw_fail(r->err, status, "%s", why.text);
    }
    if (status) {
        r->sink->refuse(r->sink->user, r->where, &why);
        return KW_OK;
    }
    if (json_is_object(perf)) { /* other objects may stand in a log */
        measurement m = {
            .kernel = text_of(root, "name", ""),
            .dtype = text_of(problem, "dtype_a", s->dtype),
            .layout = layout_of(layout, problem, s->layout),
            .m = size_of(problem, "m", s->m),
            .n = size_of(problem, "n", s->n),
            .k = size_of(problem, "k", s->k),
            .split_k = size_of(problem, "split_k", 1),
            .ms = number_of(perf, "latency(ms)", 0),
            .tflops = number_of(perf, "tflops(TFlops)", 0),
        };
        m.valid = m.ms > 0 && m.tflops > 0;
        status = give_measurement(r, &m);
    }
    json_decref(root);
    return status;
}

/* Braces of a line; what stands in quotes does not count. */
static int count_braces(kw_word line) {
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < line.size; i++) {
        if (quoted && line.at[i] == '\\') {
            i++;
        } else if (line.at[i] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += line.at[i] == '{' ? 1 : line.at[i] == '}' ? -1 : 0;
        }
    }
    return depth;
}

static bool begins_object(kw_word line) {
    size_t i = 0;
    while (i < line.size && strchr(" \t\r\n", line.at[i]) && line.at[i]) {
        i++;
    }
    return i < line.size && line.at[i] == '{';
}

static void refuse_cut(results *r) {
    kw_error why = {0};
    kw_fail(&why, KW_MALFORMED, "the object that begins here has no end");
    r->sink->refuse(r->sink->user, r->where, &why);
}

/* Objects begin with a line that begins with a brace. A line of a shape inside one says that it was cut off. */
static kw_status read_log(results *r, kw_word text) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word line;
    shape s = {0};
    const char *begin = NULL;
    int depth = 0;
    kw_status status = KW_OK;
    for (int64_t number = 1; !status && kw_scan_line(&scan, &line); number++) {
        if (read_shape_line(&s, line)) {
            if (begin) {
                refuse_cut(r);
            }
            begin = NULL;
            continue;
        }
        if (!begin && begins_object(line)) {
            begin = line.at;
            depth = 0;
            snprintf(r->where, sizeof r->where, "line %lld", (long long)number);
        }
        if (begin && (depth += count_braces(line)) <= 0) {
            status = read_block(r, &s, (kw_word){begin, (size_t)(line.at + line.size - begin)});
            begin = NULL;
        }
    }
    if (begin && !status) {
        refuse_cut(r);
    }
    return status;
}

/* --- all --------------------------------------------------------------------------------------------------------------- */

kw_ck_format kw_ck_results_sniff(kw_word text) {
    kw_scan scan = {text.at, text.at + (text.size < SNIFFED ? text.size : SNIFFED)};
    kw_word line;
    shape s;
    kw_word start = {scan.at, (size_t)(scan.end - scan.at)};
    if (begins_object((kw_word){start.at, start.size}) && memmem(start.at, start.size, "\"kernel_config\"", 15)) {
        return KW_CK_JSON;
    }
    if (begins_object(start) && memmem(start.at, start.size, "\"metadata\"", 10) && memmem(start.at, start.size, "\"problem_sizes\"", 15)) {
        return KW_CK_JSON;
    }
    if (memmem(start.at, start.size, "\"perf_result\"", 13)) {
        return KW_CK_LOG;
    }
    while (kw_scan_line(&scan, &line)) {
        if (read_shape_line(&s, line)) {
            return KW_CK_LOG;
        }
    }
    return KW_CK_NONE;
}

kw_status kw_ck_results_read(const kw_ck_sink *sink, kw_ck_format format, kw_word text, const kw_row *defaults, kw_error *err) {
    results r = {.sink = sink, .defaults = defaults, .err = err};
    return format == KW_CK_JSON ? read_results_file(&r, text) : read_log(&r, text);
}
