/* wisdom_text.c: reading, printing and editing wisdom lines. Numbers are read and printed by hand: locale plays no part. */
#include "dispatch/wisdom/wisdom_text.h"

#include "base/os/settings.h"
#include "problem/target/target.h"

#include <string.h>

enum { FIELDS = 14, FIELDS_NEEDED = 11, FIELDS_OF_BUILDER = 13, BUILDER_MAX = 64 };

static const char *const field_names[FIELDS] = {"mode",       "target", "problem", "weights", "config",  "time_ns", "spread_ns",
                                                "candidates", "date",   "next_ns", "next",    "builder", "checked", "threads"};

static const char *const weights_names[2] = {"packed", "fresh"};

void kw_wisdom_key_print(char text[KW_WISDOM_KEY_MAX], const char *problem, bool fresh_weights) {
    kw_line line = {text, KW_WISDOM_KEY_MAX, 0};
    kw_line_addf(&line, "%s\t%s", problem, weights_names[fresh_weights]);
}

static bool same_word(kw_word a, kw_word b) {
    return a.size == b.size && !memcmp(a.at, b.at, a.size);
}

/* Digits with at most one decimal. */
static bool read_tenths(kw_word word, double *value) {
    kw_scan scan = {word.at, word.at + word.size};
    int64_t whole, tenth = 0;
    if (!kw_scan_int(&scan, 0, INT64_MAX / 10, &whole)) {
        return false;
    }
    if (kw_scan_char(&scan, '.') && (scan.end - scan.at != 1 || !kw_scan_int(&scan, 0, 9, &tenth))) {
        return false;
    }
    *value = (double)whole + 0.1 * (double)tenth;
    return scan.at == scan.end;
}

static void print_tenths(kw_text *text, double value) {
    long long tenths = value > 0 && value < 9e16 ? (long long)(value * 10 + 0.5) : 0;
    kw_text_addf(text, "%lld.%lld", tenths / 10, tenths % 10);
}

static bool read_date(kw_word word) {
    kw_scan scan = {word.at, word.at + word.size};
    int64_t part;
    return word.size == 10 && kw_scan_int(&scan, 1000, 9999, &part) && kw_scan_char(&scan, '-') && kw_scan_int(&scan, 1, 12, &part) &&
           kw_scan_char(&scan, '-') && kw_scan_int(&scan, 1, 31, &part) && scan.at == scan.end;
}

static bool read_wisdom_field(kw_wisdom_line *line, int field, kw_word word) {
    int64_t count;
    bool good;
    switch (field) {
    case 0:
        return kw_mode_find(word, &line->mode) && line->mode > KW_FROZEN;
    case 1:
        line->target = word;
        return word.size && word.size < KW_TARGET_TEXT_MAX;
    case 2:
        line->problem = word;
        return word.size && word.size < KW_PROBLEM_TEXT_MAX;
    case 3:
        line->fresh_weights = kw_word_is(word, weights_names[1]);
        line->key = (kw_word){line->problem.at, (size_t)(word.at + word.size - line->problem.at)};
        return line->fresh_weights || kw_word_is(word, weights_names[0]);
    case 4:
        line->config = word;
        return word.size && word.size < KW_CONFIG_TEXT_MAX;
    case 5:
        return read_tenths(word, &line->time_ns);
    case 6:
        return read_tenths(word, &line->spread_ns);
    case 7:
        good = kw_word_int(word, 0, INT32_MAX, &count);
        line->candidates = good ? (int32_t)count : 0;
        return good;
    case 8:
        line->date = word;
        return read_date(word);
    case 9:
        return read_tenths(word, &line->next_ns);
    case 10:
        line->next = kw_word_is(word, "-") ? (kw_word){word.at, 0} : word;
        return word.size && word.size < KW_CONFIG_TEXT_MAX;
    case 11:
        line->builder = kw_word_is(word, "-") ? (kw_word){word.at, 0} : word;
        return word.size && word.size < BUILDER_MAX;
    case 12:
        line->checked = word;
        return read_date(word);
    default:
        good = kw_word_int(word, 1, INT32_MAX, &count);
        line->threads = good ? (int32_t)count : 0;
        return good;
    }
}

bool kw_wisdom_line_read(kw_wisdom_line *line, kw_word text, kw_error *why) {
    *why = (kw_error){0};
    *line = (kw_wisdom_line){0};
    if (!text.size || *text.at == '#') {
        return false;
    }
    if (memchr(text.at, 0, text.size)) {
        kw_fail(why, KW_MALFORMED, "the line has a zero byte");
        return false;
    }
    kw_scan scan = {text.at, text.at + text.size};
    for (int i = 0; i < FIELDS; i++) {
        kw_word field;
        if (i == FIELDS_NEEDED && !scan.at) {
            line->builder = (kw_word){line->date.at, 0};
            line->checked = line->date;
            return true;
        }
        if (i == FIELDS_OF_BUILDER && !scan.at) {
            return true;
        }
        if (!kw_scan_field(&scan, '\t', &field)) {
            kw_fail(why, KW_MALFORMED, "field %s is missing", field_names[i]);
            return false;
        }
        if (!read_wisdom_field(line, i, field)) {
            kw_fail(why, KW_MALFORMED, "%s cannot be %.*s", field_names[i], KW_WORD(field));
            return false;
        }
    }
    if (scan.at) {
        kw_fail(why, KW_MALFORMED, "there are more than %d fields", FIELDS);
        return false;
    }
    return true;
}

static void print_or_dash(kw_text *text, kw_word word) {
    if (word.size) {
        kw_text_add_bytes(text, word.at, word.size);
    } else {
        kw_text_add(text, "-");
    }
}

void kw_wisdom_line_print(kw_text *text, const kw_wisdom_line *line) {
    kw_word words[] = {line->target, line->key, line->config};
    kw_text_add(text, kw_mode_name(line->mode));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        kw_text_add(text, "\t");
        kw_text_add_bytes(text, words[i].at, words[i].size);
    }
    kw_text_add(text, "\t");
    print_tenths(text, line->time_ns);
    kw_text_add(text, "\t");
    print_tenths(text, line->spread_ns);
    kw_text_addf(text, "\t%d\t%.*s\t", line->candidates, KW_WORD(line->date));
    print_tenths(text, line->next_ns);
    kw_text_add(text, "\t");
    print_or_dash(text, line->next);
    kw_text_add(text, "\t");
    print_or_dash(text, line->builder);
    kw_text_add(text, "\t");
    kw_text_addf(text, "%.*s", KW_WORD(line->checked.size ? line->checked : line->date));
    if (line->threads) {
        kw_text_addf(text, "\t%d", line->threads);
    }
    kw_text_add(text, "\n");
}

kw_status kw_wisdom_text_check(const char *name, kw_word text, kw_error *err) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word first;
    if (text.size && kw_scan_line(&scan, &first) && kw_word_starts(first, "# kernelwright wisdom ") &&
        !kw_word_is(first, KW_WISDOM_HEADER)) {
        return kw_fail(err, KW_ILLEGAL, "%s: \"%.*s\" is another version of the format; this library reads and writes 1", name,
                       KW_WORD(first));
    }
    return KW_OK;
}

/* Whether the edit concerns the line's key. */
static bool edit_concerns(const kw_wisdom_edit *edit, const kw_wisdom_line *line) {
    if (!edit->put) {
        return same_word(line->problem, edit->problem);
    }
    return same_word(line->key, edit->put->key) && same_word(line->target, edit->put->target);
}

int64_t kw_wisdom_text_edit(kw_text *changed, kw_word text, const kw_wisdom_edit *edit) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word raw;
    int64_t changes = 0;
    bool placed = !edit->put;
    if (!kw_word_starts(text, KW_WISDOM_HEADER)) {
        kw_text_add(changed, KW_WISDOM_HEADER "\n");
    }
    while (text.size && kw_scan_line(&scan, &raw)) {
        kw_wisdom_line line;
        kw_error why;
        if (!kw_wisdom_line_read(&line, raw, &why) || !edit_concerns(edit, &line)) {
            kw_text_add_bytes(changed, raw.at, raw.size);
            kw_text_add(changed, "\n");
            continue;
        }
        if (edit->put && !edit->replace && line.mode >= edit->put->mode && line.candidates >= edit->put->candidates) {
            return 0; /* what stands is at least as patient: the first who wrote it decided */
        }
        changes++;
        if (!placed) {
            kw_wisdom_line_print(changed, edit->put);
            placed = true;
        }
    }
    if (!placed) {
        kw_wisdom_line_print(changed, edit->put);
        changes++;
    }
    return changes;
}
