/* table_csv.c: see table_csv.h. */
#include "store/io/table_csv.h"

#include "base/format/csv.h"
#include "base/format/number.h"
#include "store/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Words at the front of a problem's text. */
static const char *const derived_words[] = {"op", "dtype", "layout"};
enum { DERIVED_WORDS = 3 };
/* And what else a query would have to work out; readers pass over it as over the problem's words and sizes. */
static const char *const derived_figures[] = {"family", "gflops"};
enum { DERIVED_FIGURES = 2 };
static const char run_prefix[] = "run_";

void kw_table_add_header(kw_text *text) {
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        kw_csv_add(text, field->name, field == kw_row_fields);
    }
    for (int i = 0; i < DERIVED_WORDS; i++) {
        kw_csv_add(text, derived_words[i], false);
    }
    for (int i = 0; i < KW_SIZE_COUNT; i++) {
        kw_csv_add(text, kw_size_names[i], false);
    }
    for (int i = 0; i < DERIVED_FIGURES; i++) {
        kw_csv_add(text, derived_figures[i], false);
    }
    for (const kw_row_field *field = kw_run_fields + 1; field->name; field++) {
        kw_text_addf(text, ",%s%s", run_prefix, field->name);
    }
    kw_text_add(text, "\n");
}

static void add_field(kw_text *text, const kw_row_field *field, const void *base, bool first) {
    char number[KW_NUMBER_TEXT] = "";
    switch (field->kind) {
    case KW_FIELD_TEXT:
        kw_csv_add_guarded(text, kw_row_field_text(field, base), first);
        return;
    case KW_FIELD_OUTCOME:
        kw_csv_add(text, kw_outcome_name(((const kw_row *)base)->record.outcome), first);
        return;
    case KW_FIELD_BOOL:
        kw_csv_add(text, kw_row_field_int(field, base) ? "true" : "false", first);
        return;
    case KW_FIELD_REAL:
        if (!isnan(kw_row_field_real(field, base))) {
            kw_number_print(number, kw_row_field_real(field, base));
        }
        break;
    default:
        snprintf(number, sizeof number, "%" PRId64, kw_row_field_int(field, base));
    }
    kw_csv_add(text, number, first);
}

/* The kernel's family, and operations in a nanosecond where a time is known. */
static void add_figures(kw_text *text, const kw_row *row, const kw_problem *problem) {
    char family[64], gflops[KW_NUMBER_TEXT] = "";
    snprintf(family, sizeof family, "%.*s", (int)strcspn(row->record.config, " "), row->record.config);
    kw_csv_add_guarded(text, family, false);
    if (row->record.time_ns > 0) {
        kw_number_print(gflops, (double)kw_problem_flops(problem) / row->record.time_ns);
    }
    kw_csv_add(text, gflops, false);
}

void kw_table_add_row(kw_text *text, const kw_row *row, const kw_problem *problem, const kw_run *run) {
    int64_t sizes[KW_SIZE_COUNT];
    kw_scan scan = kw_scan_string(row->problem);
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        add_field(text, field, row, field == kw_row_fields);
    }
    for (int i = 0; i < DERIVED_WORDS; i++) {
        kw_word word = {"", 0};
        kw_scan_word(&scan, &word);
        kw_text_add(text, ",");
        kw_text_add_bytes(text, word.at, word.size);
    }
    kw_sizes(sizes, problem);
    for (int i = 0; i < KW_SIZE_COUNT; i++) {
        kw_text_add(text, ",");
        if (sizes[i] != KW_SIZE_NONE) {
            kw_text_addf(text, "%" PRId64, sizes[i]);
        }
    }
    add_figures(text, row, problem);
    for (const kw_row_field *field = kw_run_fields + 1; field->name; field++) {
        kw_csv_add_guarded(text, kw_row_field_text(field, run), false);
    }
    kw_text_add(text, "\n");
}

static bool is_derived(kw_word name) {
    for (int i = 0; i < DERIVED_WORDS; i++) {
        if (kw_word_is(name, derived_words[i])) {
            return true;
        }
    }
    for (int i = 0; i < KW_SIZE_COUNT; i++) {
        if (kw_word_is(name, kw_size_names[i])) {
            return true;
        }
    }
    for (int i = 0; i < DERIVED_FIGURES; i++) {
        if (kw_word_is(name, derived_figures[i])) {
            return true;
        }
    }
    return false;
}

kw_status kw_table_header_read(kw_table_header *header, const kw_csv_record *cells, kw_error *err) {
    *header = (kw_table_header){.count = cells->count};
    for (int i = 0; i < cells->count; i++) {
        kw_word name = cells->cell[i], fact = {"", 0};
        if (kw_word_starts(name, run_prefix)) {
            fact = (kw_word){name.at + sizeof run_prefix - 1, name.size - (sizeof run_prefix - 1)};
        }
        header->row[i] = kw_row_field_find(kw_row_fields, name);
        header->run[i] = fact.size ? kw_row_field_find(kw_run_fields + 1, fact) : NULL;
        header->has_run = header->has_run || header->run[i];
        if (!header->row[i] && !header->run[i] && !is_derived(name)) {
            return kw_fail(err, KW_MALFORMED, "line 1: column \"%.*s\" is not known", KW_WORD(name));
        }
        for (int j = 0; j < i; j++) {
            if (cells->cell[j].size == name.size && !memcmp(cells->cell[j].at, name.at, name.size)) {
                return kw_fail(err, KW_MALFORMED, "line 1: column \"%.*s\" is there twice", KW_WORD(name));
            }
        }
    }
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        bool found = !(field->flags & (KW_FIELD_NEEDED | KW_FIELD_ALWAYS));
        for (int i = 0; i < cells->count; i++) {
            found = found || header->row[i] == field;
        }
        if (!found) {
            return kw_fail(err, KW_MALFORMED, "line 1: there is no column \"%s\"", field->name);
        }
    }
    return KW_OK;
}

/* An empty cell says nothing: zero, or for a loose number no bound. */
static bool read_cell(const kw_row_field *field, void *base, kw_word cell) {
    double real = 0;
    int64_t number = 0;
    switch (field->kind) {
    case KW_FIELD_TEXT:
    case KW_FIELD_OUTCOME:
        return kw_row_field_set_text(field, base, kw_csv_unguard(cell));
    case KW_FIELD_BOOL:
        number = kw_word_is(cell, "true") || kw_word_is(cell, "1");
        return kw_row_field_set_int(field, base, number) && (number || kw_word_is(cell, "false") || kw_word_is(cell, "0"));
    case KW_FIELD_REAL:
        real = !cell.size && field->flags & KW_FIELD_LOOSE ? (double)NAN : 0;
        return (!cell.size || kw_number_read(cell, &real)) && kw_row_field_set_real(field, base, real);
    default:
        return (!cell.size || kw_word_int(cell, INT64_MIN, INT64_MAX, &number)) && kw_row_field_set_int(field, base, number);
    }
}

kw_status kw_table_row_read(kw_row *row, kw_run *run, const kw_table_header *header, const kw_csv_record *cells, kw_error *err) {
    if (cells->count != header->count) {
        return kw_fail(err, KW_MALFORMED, "it has %d cells, the header has %d", cells->count, header->count);
    }
    memset(row, 0, sizeof *row);
    memset(run, 0, sizeof *run);
    for (int i = 0; i < cells->count; i++) {
        const kw_row_field *field = header->row[i] ? header->row[i] : header->run[i];
        void *base = header->row[i] ? (void *)row : (void *)run;
        if (field && !read_cell(field, base, cells->cell[i])) {
            return kw_fail(err, KW_MALFORMED, "%s cannot be \"%.*s\"", field->name, KW_WORD(cells->cell[i]));
        }
    }
    memcpy(run->id, row->run, sizeof run->id);
    return KW_OK;
}
