/* extract.c: finds what could be a problem in a line and lets kw_problem_import decide, so that what is legal is said in one place. A line that
 * names MIOpenDriver or hipblaslt-bench, begins with a driver of the former or is one of TunableOp is taken as it is; one that names benchdnn, begins with an option or a descriptor, or has
 * __REPRO:, --conv or --matmul in it, is benchdnn's; else each operation's name in it may begin our own text. A line that ends in a backslash goes on
 * in the next, and so does a graph of cuDNN (cudnn_graph.c). Nothing of the source is changed; what is tried is a copy. */
#include "space/logs/extract.h"

#include "base/status.h"
#include "space/logs/benchdnn_batch.h"
#include "space/problems/problem_sets.h"
#include "problem/import/import.h"
#include "problem/names/names.h"

#include <stdio.h>
#include <string.h>

enum { CANDIDATE_MAX = 4096 };

typedef struct extraction {
    bool (*visit)(void *user, const char *name, const kw_problem *problem);
    void *user;
    kw_extract_count *lines;
    kw_text candidate;       /* the text under trial */
    kw_text joined;          /* lines that go on */
    char name[256];          /* of the line */
    kw_benchdnn_batch batch; /* set by lines of their own */
    kw_error why;            /* why the line's last candidate is no problem */
    bool stopped, failed;
} extraction;

/* Whether the candidate is a problem, or several; they are then visited. */
static bool try_candidate(extraction *e) {
    kw_problem problems[KW_IMPORT_MAX];
    int count;
    if (e->candidate.failed) {
        e->failed = true;
        return false;
    }
    if (e->stopped || kw_problem_import_all(problems, &count, kw_text_string(&e->candidate), &e->why)) {
        return false;
    }
    for (int i = 0; i < count && !e->stopped; i++) {
        e->lines->problems++;
        e->stopped = !e->visit(e->user, e->name, &problems[i]);
    }
    return true;
}

static void begin_candidate(extraction *e, const char *first) {
    e->candidate.size = 0;
    kw_text_add(&e->candidate, first);
}

static kw_word part_of(kw_word line, const char *from) {
    return (kw_word){from, (size_t)(line.at + line.size - from)};
}

static const char *find_text(kw_word line, const char *needle) {
    return memmem(line.at, line.size, needle, strlen(needle));
}

/* The text up to the first of these characters. */
static kw_word cut(kw_word text, const char *marks) {
    size_t size = 0;
    while (size < text.size && !strchr(marks, text.at[size])) {
        size++;
    }
    return (kw_word){text.at, size};
}

/* --- programs whose line is the problem --- */

static bool read_command(extraction *e, kw_word command) {
    command = cut(command, "\"'`;|&<>#");
    begin_candidate(e, "");
    kw_text_add_bytes(&e->candidate, command.at, command.size);
    return try_candidate(e);
}

/* --- benchdnn --- */

/* Whether a word is a legal descriptor by itself; most first words of lines are none, and are not tried under all options. */
static bool is_descriptor(extraction *e, kw_word word) {
    kw_problem problem;
    if (word.size > CANDIDATE_MAX) {
        return false;
    }
    begin_candidate(e, "benchdnn ");
    kw_text_add_bytes(&e->candidate, word.at, word.size);
    return !kw_problem_import(&problem, kw_text_string(&e->candidate), NULL);
}

/* A descriptor under each combination of the options' values. */
static bool read_benchdnn_descriptor(extraction *e, const kw_benchdnn_batch *batch, kw_word descriptor) {
    int total = is_descriptor(e, descriptor) ? kw_benchdnn_batch_combinations(batch) : 0, found = 0;
    for (int combination = 0; combination < total; combination++) {
        begin_candidate(e, "benchdnn");
        kw_benchdnn_batch_print(&e->candidate, batch, combination);
        kw_text_add(&e->candidate, " ");
        kw_text_add_bytes(&e->candidate, descriptor.at, descriptor.size);
        found += try_candidate(e);
    }
    return found > 0;
}

/* Options and descriptors in their order, up to what is neither. *only_options: there was no descriptor and nothing else. */
static bool read_benchdnn(extraction *e, kw_benchdnn_batch *batch, kw_word text, bool *only_options) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word;
    bool found = false;
    *only_options = true;
    while (kw_scan_word(&scan, &word) && *word.at != '#') {
        if (kw_benchdnn_batch_is_option(word)) {
            bool follows = kw_word_starts(word, "--batch="); /* another file, which is not read */
            *only_options = (follows || kw_benchdnn_batch_set(batch, word)) && *only_options && !follows;
            continue;
        }
        *only_options = false;
        if (!read_benchdnn_descriptor(e, batch, cut(word, ","))) {
            break;
        }
        found = true;
    }
    return found;
}

/* --- our own text --- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* The next name of an operation in the text that stands alone, with a blank behind it. */
static bool find_descriptor_op(kw_word text, const char *start, kw_word *op) {
    for (const char *at = text.at, *end = text.at + text.size; at < end; at++) {
        if (at > start && is_letter(at[-1])) {
            continue;
        }
        for (int i = 0; i < KW_OP_COUNT; i++) {
            const char *name = kw_op_name((kw_op)i);
            size_t size = strlen(name);
            if ((size_t)(end - at) > size && at[size] == ' ' && !memcmp(at, name, size)) {
                *op = (kw_word){at, size};
                return true;
            }
        }
    }
    return false;
}

/* Whether a word can stand in our text: a type, what may be a layout, or a size. */
static bool is_candidate_size(kw_word word) {
    kw_dtype dtype;
    if (kw_dtype_of_word(&dtype, word)) {
        return true;
    }
    size_t letters = 0, digits = word.size ? 1 : 0;
    while (letters < word.size && strchr("ncdhwgr", word.at[letters])) {
        letters++;
    }
    while (digits < word.size && strchr("0123456789x:-", word.at[digits])) {
        digits++;
    }
    return word.size > 1 && (letters == word.size || (digits == word.size && strchr("bmnkgcifspd", *word.at)));
}

/* The text from an operation's name to the last word that fits; what ends a word (a quote, a comma) ends the text. */
static kw_word own_text(kw_word from, size_t op_size) {
    kw_scan scan = {from.at + op_size, from.at + from.size};
    kw_word word, text = {from.at, op_size};
    while (kw_scan_word(&scan, &word)) {
        kw_word clean = word;
        size_t size = 0;
        while (size < word.size && (is_letter(word.at[size]) || word.at[size] == ':' || word.at[size] == '-')) {
            size++;
        }
        while (size && (word.at[size - 1] == ':' || word.at[size - 1] == '-' || word.at[size - 1] == '.')) {
            size--;
        }
        clean.size = size;
        if (!is_candidate_size(clean)) {
            break;
        }
        text.size = (size_t)(clean.at + clean.size - text.at);
        if (clean.size < word.size) {
            break;
        }
    }
    return text;
}

/* What stands in front of a problem: "NAME: " in a list, or a count as `uniq -c` writes it, which becomes the name "*COUNT". */
static void take_problem_name(extraction *e, kw_word line, const char *problem) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word, next;
    int64_t count;
    e->name[0] = 0;
    if (!kw_scan_word(&scan, &word) || word.size >= sizeof e->name || !kw_scan_word(&scan, &next) || next.at != problem) {
        return;
    }
    if (word.at[word.size - 1] == ':') {
        memcpy(e->name, word.at, word.size - 1);
        e->name[word.size - 1] = 0;
    } else if (kw_word_int(word, 1, INT32_MAX, &count)) {
        snprintf(e->name, sizeof e->name, "*%lld", (long long)count);
    }
}

static bool read_own(extraction *e, kw_word line) {
    bool found = false;
    kw_word rest = line, op;
    while (find_descriptor_op(rest, line.at, &op)) {
        kw_word text = own_text(part_of(line, op.at), op.size);
        rest = part_of(line, text.at + text.size);
        if (text.size <= CANDIDATE_MAX) {
            take_problem_name(e, line, op.at);
            begin_candidate(e, "");
            kw_text_add_bytes(&e->candidate, text.at, text.size);
            found = try_candidate(e) || found;
        }
    }
    return found;
}

/* --- lines --- */

static bool names_program(kw_word line, const char *at, const char *name) {
    const char *end = at + strlen(name);
    return (at == line.at || !is_letter(at[-1])) && (end == line.at + line.size || *end == ' ' || *end == '\t');
}

/* The word that at stands in begins there. */
static const char *word_start(kw_word line, const char *at) {
    while (at > line.at && at[-1] != ' ' && at[-1] != '\t') {
        at--;
    }
    return at;
}

/* A driver of MIOpenDriver and an option, at the line's beginning or behind a count. */
static bool is_driver(kw_word line, const char **at) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word, next = {0};
    int64_t count;
    bool there = kw_scan_word(&scan, &word) && (!kw_word_int(word, 1, INT32_MAX, &count) || kw_scan_word(&scan, &word));
    *at = word.at;
    return there && (kw_word_starts(word, "conv") || kw_word_starts(word, "gemm")) && kw_scan_word(&scan, &next) && *next.at == '-';
}

/* Where benchdnn's words begin in a line that is not a batch's, NULL when there are none. */
static const char *find_benchdnn(kw_word line) {
    static const char program[] = "benchdnn", repro[] = "__REPRO: ";
    const char *at = find_text(line, program);
    if (at && names_program(line, at, program)) {
        return at + strlen(program);
    }
    if ((at = find_text(line, repro))) {
        return at + strlen(repro);
    }
    at = find_text(line, "--conv ");
    at = at ? at : find_text(line, "--matmul ");
    return at && at > line.at && strchr(" \t,:", at[-1]) ? at : NULL;
}

/* Where a line counts as what it was. */
static void end_line(extraction *e, bool found, bool only_options) {
    e->lines->options += only_options;
    e->lines->skipped += !found && !only_options;
    if (!found && e->why.status && !*e->lines->first_refusal) {
        snprintf(e->lines->first_refusal, sizeof e->lines->first_refusal, "line %lld: %.220s", (long long)e->lines->lines, e->why.text);
    }
}

/* A graph counts as one line. */
static void read_graph_text(extraction *e, kw_word text) {
    kw_problem problem;
    e->lines->lines++;
    e->name[0] = 0;
    e->why = (kw_error){0};
    kw_status status = kw_cudnn_graph_read(&problem, text, &e->why);
    e->failed = e->failed || status == KW_NO_MEMORY;
    if (!status) {
        e->lines->problems++;
        e->stopped = !e->visit(e->user, e->name, &problem);
    }
    end_line(e, !status, false);
}

static void read_log_line(extraction *e, kw_word line) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word first;
    bool found = false, only_options = false, ignored;
    const char *at;
    e->lines->lines++;
    e->name[0] = 0;
    e->why = (kw_error){0};
    if (!kw_scan_word(&scan, &first) || *first.at == '#') {
        e->lines->options++;
        return;
    }
    if (memchr(line.at, 0, line.size)) {
        e->lines->skipped++;
        return;
    }
    if (kw_import_tunable_validator(first)) {
        only_options = true;
    } else if ((at = find_text(line, "hipblaslt-bench")) ? names_program(line, at, "hipblaslt-bench")
                                                         : kw_import_tunable_names(first) && (at = first.at) != NULL) {
        take_problem_name(e, line, word_start(line, at));
        found = read_command(e, part_of(line, at));
    } else if ((at = find_text(line, "MIOpenDriver")) ? names_program(line, at, "MIOpenDriver") : is_driver(line, &at)) {
        take_problem_name(e, line, word_start(line, at));
        found = read_command(e, part_of(line, at));
    } else if (kw_benchdnn_batch_is_option(first)) {
        found = read_benchdnn(e, &e->batch, part_of(line, first.at), &only_options);
    } else if ((at = find_benchdnn(line))) {
        kw_benchdnn_batch command = {0};
        found = read_benchdnn(e, &command, part_of(line, at), &ignored);
        e->failed = e->failed || command.failed;
        kw_benchdnn_batch_drop(&command);
    } else {
        found = read_own(e, line) || read_benchdnn(e, &e->batch, line, &ignored);
    }
    end_line(e, found, only_options);
}

static kw_word trim_word(kw_word text) {
    while (text.size && (*text.at == ' ' || *text.at == '\t')) {
        text = (kw_word){text.at + 1, text.size - 1};
    }
    while (text.size && (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\t')) {
        text.size--;
    }
    return text;
}

/* Joins lines that end in a backslash; a list that was broken behind a comma becomes one word again. */
static void take_problem_line(extraction *e, kw_word line) {
    bool goes_on = line.size && line.at[line.size - 1] == '\\';
    if (!e->joined.size && !goes_on) {
        read_log_line(e, line);
        return;
    }
    line.size -= goes_on;
    line = trim_word(line);
    kw_text_add_bytes(&e->joined, line.at, line.size);
    bool list = e->joined.size && e->joined.data[e->joined.size - 1] == ',';
    kw_text_add(&e->joined, list && goes_on ? "" : " ");
    e->failed = e->failed || e->joined.failed;
    if (!goes_on && !e->failed) {
        read_log_line(e, (kw_word){e->joined.data, e->joined.size});
        e->joined.size = 0;
    }
}

kw_status kw_extract_text(kw_word text, bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user,
                          kw_extract_count *lines, kw_error *err) {
    extraction e = {.visit = visit, .user = user, .lines = lines};
    kw_scan scan = {text.at, text.at + text.size};
    kw_word line;
    *lines = (kw_extract_count){0};
    while (!e.stopped && !e.failed && kw_scan_line(&scan, &line)) {
        kw_word graph = e.joined.size ? (kw_word){line.at, 0} : kw_cudnn_graph_find(line, scan.end);
        if (graph.size) {
            read_graph_text(&e, graph);
            scan.at = graph.at + graph.size;
            kw_scan_line(&scan, &line); /* what stands behind it */
        } else {
            take_problem_line(&e, line);
        }
    }
    if (e.joined.size && !e.stopped && !e.failed) { /* the last line went on into nothing */
        read_log_line(&e, (kw_word){e.joined.data, e.joined.size});
    }
    bool failed = e.failed || e.candidate.failed || e.batch.failed;
    kw_text_drop(&e.candidate);
    kw_text_drop(&e.joined);
    kw_benchdnn_batch_drop(&e.batch);
    return failed ? kw_fail_memory(err, "a line of a log") : KW_OK;
}

kw_status kw_problems_extract(const char *path, bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user,
                              kw_extract_count *lines, kw_error *err) {
    if (!path || !visit || !lines) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_extract: %s is NULL", !path ? "path" : visit ? "lines" : "visit");
    }
    kw_source_text source;
    kw_status status = kw_source_text_read(&source, path, err);
    if (!status) {
        status = kw_extract_text((kw_word){source.data, source.size}, visit, user, lines, err);
    }
    kw_source_text_drop(&source);
    return status;
}
