/* protocol.c: jobs and answers as lines. The fields of a record are one table, for printing and reading. */
#include "sweep/worker/protocol.h"

#include "base/format/number.h"
#include "config/config.h"
#include "store/row.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- values ---------------------------------------------------------------------------------------------------------- */

static void print_double(kw_text *text, double value) {
    char digits[KW_NUMBER_TEXT];
    kw_number_print(digits, value);
    kw_text_add(text, digits);
}

/* Removes the word before '=' from a word. */
static bool take_field_name(kw_word *word, kw_word *name) {
    const char *equals = memchr(word->at, '=', word->size);
    if (!equals) {
        return false;
    }
    *name = (kw_word){word->at, (size_t)(equals - word->at)};
    *word = (kw_word){equals + 1, word->size - name->size - 1};
    return true;
}

/* The rest of a line behind one blank. */
static kw_word rest_of_line(const kw_scan *scan) {
    const char *at = scan->at < scan->end && *scan->at == ' ' ? scan->at + 1 : scan->at;
    return (kw_word){at, (size_t)(scan->end - at)};
}

static bool is_printable(kw_word line) {
    for (size_t i = 0; i < line.size; i++) {
        if ((unsigned char)line.at[i] < ' ') {
            return false;
        }
    }
    return true;
}

static void print_field_text(kw_text *text, const char *string) {
    for (; *string; string++) {
        char c = (unsigned char)*string < ' ' ? ' ' : *string;
        kw_text_add_bytes(text, &c, 1);
    }
}

/* --- jobs ------------------------------------------------------------------------------------------------------------ */

static void print_value(kw_text *text, const kw_row_field *f, const void *base) {
    if (f->kind == KW_FIELD_REAL) {
        print_double(text, kw_row_field_real(f, base));
    } else if (f->kind == KW_FIELD_UINT64) {
        kw_text_addf(text, "%llu", (unsigned long long)kw_row_field_int(f, base));
    } else {
        assert(kw_row_field_int(f, base) >= 0); /* the reader takes no negative number */
        kw_text_addf(text, "%lld", (long long)kw_row_field_int(f, base));
    }
}

static bool read_natural(kw_word word, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < word.size; i++) {
        uint64_t digit = (uint64_t)(word.at[i] - '0');
        if (word.at[i] < '0' || word.at[i] > '9' || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, digit, value)) {
            return false;
        }
    }
    return word.size > 0;
}

/* No value is negative. */
static bool read_field_value(const kw_row_field *f, void *base, kw_word word) {
    int64_t number = 0, most = f->kind == KW_FIELD_BOOL ? 1 : f->kind == KW_FIELD_INT32 ? INT32_MAX : INT64_MAX;
    uint64_t natural = 0;
    double real = 0;
    switch (f->kind) {
    case KW_FIELD_REAL:
        return kw_number_read(word, &real) && real >= 0 && kw_row_field_set_real(f, base, real);
    case KW_FIELD_UINT64:
        return read_natural(word, &natural) && kw_row_field_set_int(f, base, (int64_t)natural);
    default:
        return kw_word_int(word, 0, most, &number) && kw_row_field_set_int(f, base, number);
    }
}

#define FIELD(struct_name, field_kind, member)                                                                                             \
    { .name = #member, .kind = KW_FIELD_##field_kind, .offset = offsetof(struct_name, member) }

static const kw_row_field options[] = {
    FIELD(kw_worker_job, BOOL, verify_only), FIELD(kw_worker_job, BOOL, pack_weights), FIELD(kw_worker_job, BOOL, cold),
    FIELD(kw_worker_job, INT32, batches),    FIELD(kw_worker_job, REAL, drop_ratio),   FIELD(kw_worker_job, REAL, best_ns),
    FIELD(kw_worker_job, UINT64, seed),
};

static void print_kernel(kw_text *text, const kw_worker_job_kernel *kernel, const kw_problem *problem) {
    char config[KW_CONFIG_TEXT_MAX], line[KW_PROBLEM_TEXT_MAX];
    kw_config_print(config, sizeof config, kernel->config);
    assert(!kernel->key || !strpbrk(kernel->key, " \n")); /* a word of its line */
    kw_text_add(text, kernel->key && *kernel->key ? kernel->key : "-");
    if (problem) {
        kw_problem_print(line, sizeof line, problem);
        kw_text_addf(text, " %s |", line);
    }
    kw_text_addf(text, " %s\n", config);
}

void kw_job_print(kw_text *text, const kw_worker_job *job) {
    char line[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(line, sizeof line, job->problem);
    kw_text_addf(text, "problem %s\n", line);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        kw_text_addf(text, "option %s ", options[i].name);
        print_value(text, &options[i], job);
        kw_text_add(text, "\n");
    }
    if (job->control.config) {
        kw_text_add(text, "control ");
        print_kernel(text, &job->control, job->control_problem);
    }
    for (size_t i = 0; i < job->count; i++) {
        kw_text_addf(text, "kernel %zu ", i);
        print_kernel(text, &job->kernels[i], NULL);
    }
    kw_text_add(text, "go\n");
}

static kw_status parse_problem(kw_problem *problem, kw_word word, kw_error *err) {
    char text[KW_PROBLEM_TEXT_MAX];
    return kw_word_copy(text, sizeof text, word) ? kw_problem_parse(problem, text, err)
                                                 : kw_fail(err, KW_MALFORMED, "problem %.*s... is too long", KW_WORD(word));
}

static kw_status parse_kernel(kw_job_line_kernel *kernel, kw_word key, kw_word config, kw_error *err) {
    char text[KW_CONFIG_TEXT_MAX];
    if (!kw_word_copy(kernel->key, sizeof kernel->key, kw_word_is(key, "-") ? (kw_word){key.at, 0} : key) ||
        !kw_word_copy(text, sizeof text, config)) {
        return kw_fail(err, KW_MALFORMED, "key or config %.*s... is too long", KW_WORD(config));
    }
    return kw_config_parse(&kernel->config, text, err);
}

static kw_status read_option(kw_job_reader *reader, kw_scan scan, kw_error *err) {
    kw_word name = {0}, value = {0}, more;
    kw_scan_word(&scan, &name);
    kw_scan_word(&scan, &value);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (kw_word_is(name, options[i].name)) {
            return read_field_value(&options[i], &reader->job, value) && !kw_scan_word(&scan, &more)
                       ? KW_OK
                       : kw_fail(err, KW_MALFORMED, "option %s: %.*s is no value for it", options[i].name, KW_WORD(value));
        }
    }
    return kw_fail(err, KW_MALFORMED, "option %.*s is not known", KW_WORD(name));
}

/* KEY PROBLEM | CONFIG */
static kw_status read_control(kw_job_reader *reader, kw_scan scan, kw_error *err) {
    kw_word key = {0};
    kw_scan_word(&scan, &key);
    const char *bar = scan.at < scan.end ? memchr(scan.at, '|', (size_t)(scan.end - scan.at)) : NULL;
    if (!bar) {
        return kw_fail(err, KW_MALFORMED, "control: KEY PROBLEM | CONFIG is wanted");
    }
    kw_word problem = {scan.at, (size_t)(bar - scan.at)};
    kw_status status = parse_problem(&reader->control_problem, problem, err);
    reader->has_control = true;
    return status ? status : parse_kernel(&reader->control, key, (kw_word){bar + 1, (size_t)(scan.end - bar - 1)}, err);
}

static kw_status read_kernel_line(kw_job_reader *reader, kw_scan scan, kw_error *err) {
    kw_word index = {0}, key = {0};
    int64_t number = -1;
    if (!kw_scan_word(&scan, &index) || !kw_word_int(index, 0, INT32_MAX, &number) || (size_t)number != reader->count ||
        !kw_scan_word(&scan, &key)) {
        return kw_fail(err, KW_MALFORMED, "kernel %.*s: kernel %zu KEY CONFIG is wanted", KW_WORD(index), reader->count);
    }
    if (reader->count == reader->capacity) {
        size_t capacity = reader->capacity ? 2 * reader->capacity : 32;
        kw_job_line_kernel *grown = reallocarray(reader->kernels, capacity, sizeof *grown);
        if (!grown) {
            return kw_fail_memory(err, "a job");
        }
        reader->kernels = grown;
        reader->capacity = capacity;
    }
    kw_status status = parse_kernel(&reader->kernels[reader->count], key, rest_of_line(&scan), err);
    reader->count += !status;
    return status;
}

/* Points job at what was read; only now, since the kernels' memory moved while it grew. */
static kw_status complete_job(kw_job_reader *reader, kw_error *err) {
    if (!reader->has_problem) {
        return kw_fail(err, KW_MALFORMED, "go: a problem is wanted before");
    }
    reader->list = calloc(reader->count + 1, sizeof *reader->list);
    if (!reader->list) {
        return kw_fail_memory(err, "a job");
    }
    for (size_t i = 0; i < reader->count; i++) {
        reader->list[i] = (kw_worker_job_kernel){&reader->kernels[i].config, reader->kernels[i].key};
    }
    reader->job.problem = &reader->problem;
    reader->job.kernels = reader->list;
    reader->job.count = reader->count;
    if (reader->has_control) {
        reader->job.control_problem = &reader->control_problem;
        reader->job.control = (kw_worker_job_kernel){&reader->control.config, reader->control.key};
    }
    reader->complete = true;
    return KW_OK;
}

kw_status kw_job_read(kw_job_reader *reader, kw_word line, kw_error *err) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word = {0};
    kw_scan_word(&scan, &word);
    if (!is_printable(line)) {
        return kw_fail(err, KW_MALFORMED, "line %.*s: it holds control characters", KW_WORD(line));
    }
    if (reader->complete) {
        return kw_fail(err, KW_MALFORMED, "%.*s: the job is complete already", KW_WORD(word));
    }
    if (kw_word_is(word, "problem")) {
        reader->has_problem = true;
        return parse_problem(&reader->problem, rest_of_line(&scan), err);
    }
    if (kw_word_is(word, "option")) {
        return read_option(reader, scan, err);
    }
    if (kw_word_is(word, "control")) {
        return read_control(reader, scan, err);
    }
    if (kw_word_is(word, "kernel")) {
        return read_kernel_line(reader, scan, err);
    }
    if (kw_word_is(word, "go") && scan.at == scan.end) {
        return complete_job(reader, err);
    }
    return kw_fail(err, KW_MALFORMED, "line %.*s: problem, option, control, kernel or go is wanted", KW_WORD(line));
}

void kw_job_drop(kw_job_reader *reader) {
    free(reader->kernels);
    free(reader->list);
    *reader = (kw_job_reader){0};
}

/* --- answers --------------------------------------------------------------------------------------------------------- */

static const kw_row_field record_fields[] = {
#define RECORD_FIELD(kind, type, member, flags, unit, meaning) FIELD(kw_record, kind, member),
#define RECORD_PAIR(kind, type, member, first, second, flags, unit, meaning, meaning2)                                                     \
    FIELD(kw_record, kind, member[0]), FIELD(kw_record, kind, member[1]),
    KW_RECORD_FIELDS(RECORD_FIELD, RECORD_PAIR, RECORD_FIELD)
#undef RECORD_FIELD
#undef RECORD_PAIR
};
enum { FIELDS = sizeof record_fields / sizeof *record_fields };

static const char *const answer_words[] = {
    [KW_ANSWER_HELLO] = "hello",   [KW_ANSWER_TARGET] = "target",   [KW_ANSWER_DEVICE] = "device", [KW_ANSWER_READY] = "ready",
    [KW_ANSWER_RECORD] = "record", [KW_ANSWER_CONTROL] = "control", [KW_ANSWER_DONE] = "done",     [KW_ANSWER_ERROR] = "error",
};
_Static_assert(sizeof answer_words / sizeof *answer_words == KW_ANSWER_COUNT, "each kind of answer has a word");

static void print_record(kw_text *text, const kw_record *record) {
    kw_text_addf(text, " outcome=%s", kw_outcome_name(record->outcome));
    for (size_t i = 0; i < FIELDS; i++) {
        kw_text_addf(text, " %s=", record_fields[i].name);
        print_value(text, &record_fields[i], record);
    }
    kw_text_add(text, " detail=");
    print_field_text(text, record->detail);
}

void kw_answer_print(kw_text *text, const kw_answer *answer) {
    assert((unsigned)answer->kind < KW_ANSWER_COUNT);
    kw_text_add(text, answer_words[answer->kind]);
    switch (answer->kind) {
    case KW_ANSWER_HELLO:
    case KW_ANSWER_RECORD:
        kw_text_addf(text, " %lld", (long long)answer->number);
        break;
    case KW_ANSWER_CONTROL:
        kw_text_add(text, " drift=");
        print_double(text, answer->value);
        break;
    case KW_ANSWER_DONE:
        kw_text_add(text, " kernel_ns=");
        print_double(text, answer->value);
        break;
    default:
        break;
    }
    if (answer->kind == KW_ANSWER_RECORD || answer->kind == KW_ANSWER_CONTROL) {
        print_record(text, &answer->record);
    } else if (*answer->text) {
        kw_text_add(text, " ");
        print_field_text(text, answer->text);
    }
    kw_text_add(text, "\n");
}

static bool parse_outcome(kw_word word, kw_outcome *outcome) {
    for (int i = 0; i < KW_OUTCOME_COUNT; i++) {
        if (kw_word_is(word, kw_outcome_name((kw_outcome)i))) {
            *outcome = (kw_outcome)i;
            return true;
        }
    }
    return false;
}

/* All fields, in the order of the table. */
static kw_status read_record_fields(kw_record *record, kw_scan scan, kw_error *err) {
    kw_word word = {0}, name = {0};
    *record = (kw_record){0};
    if (!kw_scan_word(&scan, &word) || !take_field_name(&word, &name) || !kw_word_is(name, "outcome") ||
        !parse_outcome(word, &record->outcome)) {
        return kw_fail(err, KW_MALFORMED, "record: outcome=%.*s is none", KW_WORD(word));
    }
    for (size_t i = 0; i < FIELDS; i++) {
        const kw_row_field *f = &record_fields[i];
        if (!kw_scan_word(&scan, &word) || !take_field_name(&word, &name) || !kw_word_is(name, f->name) ||
            !read_field_value(f, record, word)) {
            return kw_fail(err, KW_MALFORMED, "record: %s=VALUE is wanted, not %.*s", f->name, KW_WORD(word));
        }
    }
    kw_word rest = rest_of_line(&scan);
    if (!take_field_name(&rest, &name) || !kw_word_is(name, "detail")) {
        return kw_fail(err, KW_MALFORMED, "record: detail= is wanted at its end");
    }
    kw_word_copy(record->detail, sizeof record->detail, rest);
    return KW_OK;
}

/* NAME=VALUE as the next word. */
static bool read_named(kw_scan *scan, const char *wanted, double *value) {
    kw_word word, name;
    return kw_scan_word(scan, &word) && take_field_name(&word, &name) && kw_word_is(name, wanted) && kw_number_read(word, value);
}

kw_status kw_answer_read(kw_answer *answer, kw_word line, kw_error *err) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word = {0};
    int kind = 0;
    bool good = true;
    kw_scan_word(&scan, &word);
    while (kind < KW_ANSWER_COUNT && !kw_word_is(word, answer_words[kind])) {
        kind++;
    }
    answer->kind = (kw_answer_kind)kind;
    *answer->text = 0;
    switch (answer->kind) {
    case KW_ANSWER_HELLO:
    case KW_ANSWER_RECORD:
        good = kw_scan_word(&scan, &word) && kw_word_int(word, 0, INT32_MAX, &answer->number);
        break;
    case KW_ANSWER_CONTROL:
        good = read_named(&scan, "drift", &answer->value);
        break;
    case KW_ANSWER_DONE:
        good = read_named(&scan, "kernel_ns", &answer->value) && answer->value >= 0;
        break;
    case KW_ANSWER_COUNT:
        good = false;
        break;
    default:
        break;
    }
    if (!good || !is_printable(line)) {
        return kw_fail(err, KW_MALFORMED, "line %.*s is no answer", KW_WORD(line));
    }
    if (answer->kind == KW_ANSWER_RECORD || answer->kind == KW_ANSWER_CONTROL) {
        return read_record_fields(&answer->record, scan, err);
    }
    kw_word_copy(answer->text, sizeof answer->text, rest_of_line(&scan));
    return KW_OK;
}
