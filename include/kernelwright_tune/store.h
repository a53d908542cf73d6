/* store.h: rows in one SQLite file, its import and export.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_STORE_H
#define KERNELWRIGHT_TUNE_STORE_H

#include "rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adding rows is a union: the same row twice is one row, whatever the order. Nothing is dropped because a better row exists; "the answer"
 * for a target, problem, config, packed and cold is the row that is best by: verified (good, then slow, then what failed), more samples,
 * smaller spread relative to its time, then the smaller digest. A filter's answers are those among the rows that its target, problem,
 * config, run, op and dtype leave; its outcome then keeps the answers that have it. One process writes a store at a time; many may read.
 * A handle belongs to one thread at a time. */
typedef struct kw_store kw_store;
typedef enum kw_store_access { KW_STORE_READ = 0, KW_STORE_WRITE /* made if missing */ } kw_store_access;

/* KW_MISSING: no such file. KW_MALFORMED: not a store, or damaged (kwright db recover rescues). KW_ILLEGAL: made by a newer version. An older
 * one is migrated when opened for writing, after a copy of it is put beside it (PATH.v1). */
KW_API kw_status kw_store_open(kw_store **store, const char *path, kw_store_access access, kw_error *err);
KW_API void kw_store_close(kw_store **store);
/* The run that later rows name. Saying the same run again is no error. */
KW_API kw_status kw_store_add_run(kw_store *store, const kw_run *run, kw_error *err);
/* Adds rows in one transaction: all of them are there when it returns KW_OK, none otherwise. added (may be NULL): how many were new. */
KW_API kw_status kw_store_add(kw_store *store, const kw_row rows[], size_t count, size_t *added, kw_error *err);

/* Which rows; with zeroed members all. */
typedef struct kw_row_filter {
    size_t size;                                 /* sizeof(kw_row_filter) */
    bool by_op, by_dtype, by_outcome, by_timing; /* whether op, dtype, outcome, and packed with cold count */
    kw_op op;
    kw_dtype dtype;
    kw_outcome outcome;
    bool packed, cold;
    bool answers;                                /* one row, the answer, for each target, problem, config, packed and cold */
    const char *target, *problem, *config, *run; /* NULL: any */
} kw_row_filter;

/* In the order target, problem, config, packed, cold, digest: the same rows come in the same order from every store. The row lives during the
 * call. visit returns false to stop. */
KW_API kw_status kw_store_visit(kw_store *store, const kw_row_filter *filter, bool (*visit)(void *user, const kw_row *row), void *user,
                                kw_error *err);
KW_API kw_status kw_store_visit_runs(kw_store *store, bool (*visit)(void *user, const kw_run *run), void *user, kw_error *err);
/* Whether there is a row for it in any outcome but KW_UNTRIED. */
KW_API kw_status kw_store_has(kw_store *store, bool *has, const char *target, const char *problem, const char *config, bool packed,
                              bool cold, kw_error *err);
/* Drops the rows of a filter. */
KW_API kw_status kw_store_drop(kw_store *store, const kw_row_filter *filter, int64_t *dropped, kw_error *err);

typedef struct kw_store_counts {
    int64_t rows, targets, problems, configs, runs, bytes;
    int64_t outcome[KW_OUTCOME_COUNT];
} kw_store_counts;
KW_API kw_status kw_store_count(kw_store *store, kw_store_counts *counts, kw_error *err);
/* The file's identity: 32 hexadecimal digits, given when it was made. Owned by the store. */
KW_API const char *kw_store_id(const kw_store *store);
/* Looks at every page. KW_MALFORMED says what is wrong. */
KW_API kw_status kw_store_check(kw_store *store, kw_error *err);
/* Copies every row that can still be read from a damaged file into a new one. */
KW_API kw_status kw_store_recover(const char *damaged, const char *path, int64_t *recovered, kw_error *err);

typedef struct kw_export_report {
    int64_t rows, left_out; /* left_out: what seed-csv has no columns for: GEMM, padding that differs by side */
} kw_export_report;
/* "jsonl": everything, one row a line. "csv": everything, one row a line, with the problem's sizes. "seed-csv": the columns of the system this
 * one re-creates (24; the 17 older ones are read as well) of one operation and type; failed launches have latency_ms=N/A and tflops=0.
 * path "-": standard output, or input. Names ending in .gz are compressed. A file is there whole or not at all. report may be NULL. */
KW_API kw_status kw_store_export(kw_store *store, const kw_row_filter *filter, const char *format, const char *path,
                                 kw_export_report *report, kw_error *err);

typedef struct kw_import_report {
    int64_t added, known, refused;
    char first_refusal[256]; /* with its line */
} kw_import_report;
/* Refuses rows that cannot be true (docs/measuring/store.md): times that are negative, not finite or so short that the work would be above any peak the
 * target can have, outcomes that contradict the rest, malformed texts. format NULL: as the first line says. Rows of "seed-csv", and of
 * "ck-json" and "ck-log", CK Tile's GEMM benchmarks as a JSON file and as a log, say little of themselves: defaults gives them run, target,
 * packed, cold, time and, by any problem of it, operation and type of seed-csv (no problem: as the kernels' names say; NULL for the other
 * formats).
 * A kernel that is no config of ours keeps its name; registries refuse it, so it is never dispatched. */
KW_API kw_status kw_store_import(kw_store *store, const char *format, const char *path, const kw_row *defaults, kw_import_report *report,
                                 kw_error *err);

/* One row as a line of JSON without its end, and back. A line carries a checksum of itself as its last member; a line whose checksum does
 * not match is KW_MALFORMED. The caller frees *line with kw_free. */
KW_API kw_status kw_row_print(char **line, const kw_row *row, kw_error *err);
KW_API kw_status kw_row_parse(kw_row *row, const char *line, size_t size, kw_error *err);
KW_API kw_status kw_run_print(char **line, const kw_run *run, kw_error *err);
KW_API kw_status kw_run_parse(kw_run *run, const char *line, size_t size, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
