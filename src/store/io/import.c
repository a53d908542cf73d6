/* import.c: files of rows into a store. Every row is looked at before it is added, so that one that cannot be true is refused alone and
 * counted; those that pass go in by batches. */
#include "store/segment.h"
#include "base/container/arena.h"
#include "base/format/gzip.h"
#include "base/os/file.h"
#include "store/io/ck_results.h"
#include "store/io/plausible.h"
#include "store/io/reader.h"
#include "store/io/seed_csv.h"
#include "store/sqlite/store.h"
#include "store/io/table_csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { BATCH = 200 };

typedef struct import {
    kw_store *store;
    kw_reader *reader;
    const kw_row *defaults;
    kw_import_report *report;
    kw_row *rows; /* BATCH of them */
    size_t count;
    kw_row named; /* the defaults with a run */
    kw_run run;   /* the last one added */
    kw_csv_record cells;
    kw_seed_header seed;
    kw_table_header table;
    int64_t sequence; /* of rows without lines */
} import;

static void refuse_place(import *m, const char *where, const kw_error *why) {
    if (!m->report->refused++) {
        kw_line line = {.data = m->report->first_refusal, .capacity = sizeof m->report->first_refusal};
        kw_line_addf(&line, "%s: %s", where, why->text);
    }
}

static void refuse_row(import *m, int64_t line, const kw_error *why) {
    char where[32];
    snprintf(where, sizeof where, "line %lld", (long long)line);
    refuse_place(m, where, why);
}

static kw_status flush_import(import *m, kw_error *err) {
    size_t added = 0;
    kw_status status = m->count ? kw_store_add(m->store, m->rows, m->count, &added, err) : KW_OK;
    if (!status) {
        m->report->added += (int64_t)added;
        m->report->known += (int64_t)(m->count - added);
    }
    m->count = 0;
    return status;
}

/* A row that was read: settled, looked at, and put into the batch. */
static kw_status import_row_at(import *m, const kw_row *raw, const char *where, kw_error *err) {
    kw_error why = {0};
    kw_row *row = &m->rows[m->count];
    kw_status status = kw_row_normalize(row, raw, &why);
    status = status ? status : kw_row_plausible(row, &why);
    if (status == KW_NO_MEMORY) {
        return kw_fail(err, status, "%s", why.text);
    }
    if (status) {
        refuse_place(m, where, &why);
        return KW_OK;
    }
    return ++m->count == BATCH ? flush_import(m, err) : KW_OK;
}

static kw_status import_row(import *m, const kw_row *raw, int64_t line, kw_error *err) {
    char where[32];
    snprintf(where, sizeof where, "line %lld", (long long)line);
    return import_row_at(m, raw, where, err);
}

/* A run that contradicts one of the store is refused; its rows still name it. */
static kw_status import_run(import *m, const kw_run *run, int64_t line, kw_error *err) {
    kw_error why = {0};
    if (!memcmp(&m->run, run, sizeof *run)) {
        return KW_OK;
    }
    m->run = *run;
    kw_status status = kw_store_add_run(m->store, run, &why);
    if (status == KW_ILLEGAL) {
        refuse_row(m, line, &why);
        return KW_OK;
    }
    return status ? kw_fail(err, status, "%s", why.text) : KW_OK;
}

static kw_status take_run(void *user, const kw_run *run, kw_error *err) {
    import *m = user;
    return kw_store_add_run(m->store, run, err);
}

static kw_status take_row(void *user, const kw_row *row, kw_error *err) {
    import *m = user;
    m->rows[m->count++] = *row;
    return m->count == BATCH ? flush_import(m, err) : KW_OK;
}

static kw_status import_lines(import *m, kw_error *err) {
    kw_segment_visitor visitor = {take_run, take_row, m};
    kw_segment_counts counts;
    kw_status status = kw_segment_read_lines(m->reader, &visitor, &counts, err);
    m->report->refused += counts.damaged + counts.refused;
    memcpy(m->report->first_refusal, counts.first_fault, sizeof counts.first_fault);
    return status || !counts.cut ? status : kw_fail(err, KW_MALFORMED, "%s", counts.first_fault);
}

static kw_status import_cells(import *m, bool seed, kw_error *err) {
    bool more = true;
    for (;;) {
        kw_row row;
        kw_run run = {0};
        kw_error why = {0};
        kw_status status = kw_csv_record_read(&m->cells, m->reader, &more, &why);
        if (!status && !more) {
            return KW_OK;
        }
        if (status && status != KW_MALFORMED) {
            return kw_fail(err, status, "%s", why.text);
        }
        if (!status) {
            status = seed ? kw_seed_row_read(&row, &m->seed, &m->cells, m->defaults, &why)
                          : kw_table_row_read(&row, &run, &m->table, &m->cells, &why);
        }
        if (status == KW_NO_MEMORY) {
            return kw_fail(err, status, "%s", why.text);
        }
        if (status) {
            refuse_row(m, m->cells.line, &why);
            if (!more) {
                return KW_OK;
            }
            continue;
        }
        if (!seed && m->table.has_run) {
            status = import_run(m, &run, m->cells.line, err);
        }
        status = status ? status : import_row(m, &row, m->cells.line, err);
        if (status) {
            return status;
        }
    }
}

/* Rows without a run of their own belong to one that says where they came from; the same for the same target, so that importing a file
 * again adds nothing. */
static kw_status name_run(import *m, const char *format, kw_error *err) {
    if (m->defaults->run[0]) {
        return KW_OK;
    }
    m->named = *m->defaults;
    kw_run run = {0};
    kw_text text = {0};
    snprintf(run.command, sizeof run.command, "imported from %s", format);
    kw_text_addf(&text, "%s: %s", run.command, m->defaults->target);
    if (text.failed) {
        return kw_fail_memory(err, "the run's id");
    }
    kw_hash_text(run.id, text.data, text.size);
    kw_text_drop(&text);
    memcpy(run.target, m->defaults->target, sizeof run.target);
    memcpy(m->named.run, run.id, sizeof run.id);
    m->defaults = &m->named;
    return kw_store_add_run(m->store, &run, err);
}

/* The first line says which of the two CSVs a file is; format (may be NULL) must agree. */
static kw_status read_header(import *m, const char *format, bool *seed, kw_error *err) {
    bool more = false;
    kw_status status = kw_csv_record_read(&m->cells, m->reader, &more, err);
    if (status || !more) {
        return status ? status : kw_fail(err, KW_MALFORMED, "the file is empty");
    }
    *seed = kw_seed_header_read(&m->seed, &m->cells);
    if (format && *seed != !strcmp(format, "seed-csv")) {
        return *seed ? kw_fail(err, KW_MALFORMED, "line 1: this is the header of seed-csv, not of %s", format)
                     : kw_fail(err, KW_MALFORMED, "line 1: this is not the header of seed-csv: kernel, problem_idx, N, C, K, G, ...");
    }
    if (*seed && !m->defaults) {
        return kw_fail(err, KW_ILLEGAL, "rows of seed-csv do not say their target: it must be given (--target, e.g. gfx950)");
    }
    return *seed ? name_run(m, "seed-csv", err) : kw_table_header_read(&m->table, &m->cells, err);
}

static kw_status import_by(import *m, const char *format, kw_error *err) {
    char first = 0;
    bool seed = false;
    kw_status status = kw_reader_peek(m->reader, &first, err);
    if (status) {
        return status;
    }
    bool lines = format ? !strcmp(format, "jsonl") : first == '{';
    if (lines) {
        return import_lines(m, err);
    }
    status = read_header(m, format, &seed, err);
    return status ? status : import_cells(m, seed, err);
}

/* --- what CK Tile's benchmarks write -------------------------------------------------------------------------------------- */

enum { CK_MOST = 1 << 30 };

static kw_status take_ck_row(void *user, const kw_row *row, const char *where, kw_error *err) {
    import *m = user;
    kw_row numbered = *row;
    numbered.sequence = ++m->sequence;
    return import_row_at(m, &numbered, where, err);
}

static void refuse_ck_row(void *user, const char *where, const kw_error *why) {
    refuse_place(user, where, why);
}

/* The format that was asked for or, of a regular file, that its beginning shows. */
static kw_ck_format ck_format_of(const char *format, const char *path) {
    char start[16 << 10];
    gzFile file = NULL;
    if (format) {
        return !strcmp(format, "ck-json") ? KW_CK_JSON : !strcmp(format, "ck-log") ? KW_CK_LOG : KW_CK_NONE;
    }
    struct stat facts;
    if (stat(path, &facts) || !S_ISREG(facts.st_mode) || !(file = gzopen(path, "rbe"))) {
        return KW_CK_NONE;
    }
    int size = gzread(file, start, sizeof start);
    gzclose(file);
    return size > 0 ? kw_ck_results_sniff((kw_word){start, (size_t)size}) : KW_CK_NONE;
}

static kw_status import_ck(import *m, kw_ck_format format, const char *path, kw_error *err) {
    kw_arena arena = {0};
    kw_text text = {0};
    char *data = NULL;
    size_t size = 0;
    if (!m->defaults) {
        return kw_fail(err, KW_ILLEGAL,
                       "%.200s is of CK Tile's benchmarks, which do not say their target: it must be given (--target, e.g. gfx950)", path);
    }
    kw_status status = name_run(m, format == KW_CK_JSON ? "ck-json" : "ck-log", err);
    status = status ? status : kw_file_read(&arena, path, CK_MOST, &data, &size, err);
    status = status ? status : kw_gzip_unpack_any(&text, data, size, CK_MOST, err);
    kw_arena_drop(&arena);
    kw_ck_sink sink = {m, take_ck_row, refuse_ck_row};
    status = status ? status : kw_ck_results_read(&sink, format, (kw_word){kw_text_string(&text), text.size}, m->defaults, err);
    kw_text_drop(&text);
    return status;
}

/* --- all ------------------------------------------------------------------------------------------------------------------ */

/* What is wrong with a file is said of its lines; of several files, the user must hear which. */
static kw_status name_file(kw_status status, const char *path, kw_error *err) {
    if (!err || strstr(err->text, path)) {
        return status;
    }
    kw_error of_line = *err;
    return kw_fail(err, status, "%.200s: %.250s", path, of_line.text);
}

kw_status kw_store_import(kw_store *store, const char *format, const char *path, const kw_row *defaults, kw_import_report *report,
                          kw_error *err) {
    kw_import_report unused = {0};
    report = report ? report : &unused;
    *report = (kw_import_report){0};
    static const char *const formats[] = {"jsonl", "csv", "seed-csv", "ck-json", "ck-log"};
    bool known = !format;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        known = known || !strcmp(format, formats[i]);
    }
    if (!known) {
        return kw_fail(err, KW_MISSING, "format %.40s is not known; there are jsonl, csv, seed-csv, ck-json and ck-log", format);
    }
    kw_ck_format ck = ck_format_of(format, path);
    import *m = calloc(1, sizeof *m);
    kw_row *rows = calloc(BATCH, sizeof *rows);
    kw_status status = m && rows ? KW_OK : kw_fail_memory(err, path);
    if (!status) {
        *m = (import){.store = store, .defaults = defaults, .report = report, .rows = rows};
        status = ck ? import_ck(m, ck, path, err) : kw_reader_open(&m->reader, path, err);
        status = status || ck ? status : import_by(m, format, err);
        status = status ? status : flush_import(m, err);
        if (m->reader) {
            kw_reader_close(&m->reader);
        }
        kw_csv_record_drop(&m->cells);
    }
    free(rows);
    free(m);
    return status == KW_MALFORMED || status == KW_ILLEGAL ? name_file(status, path, err) : status;
}
