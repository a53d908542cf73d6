/* report_data.h: a store's rows as figures need them: texts numbered, answers grouped into problem groups, each problem group with its
 * oracle and its roof.
 *
 * Made of a store's answers (one row a target, problem, config and way of timing) and, for what depends on the order of measuring, of
 * all its rows. Everything lives in its arena; after kw_report_data_finish nothing changes any more. Times that are not positive and
 * finite are 0 here, which means none. */
#ifndef KW_REPORT_DATA_REPORT_DATA_H
#define KW_REPORT_DATA_REPORT_DATA_H

#include "base/container/string_table.h"
#include "base/text.h"
#include "problem/names/outcome.h"
#include "problem/target/target.h"

#include <kernelwright_tune.h>

#define KW_NOWHERE SIZE_MAX

/* Where a roof comes from. */
typedef enum kw_roof_kind { KW_ROOF_NONE, KW_ROOF_SEEN /* the best of the store */, KW_ROOF_MEASURED } kw_roof_kind;

typedef struct kw_roof {
    double rate; /* FLOP/s or bytes a second */
    kw_roof_kind kind;
} kw_roof;

typedef struct kw_report_target {
    const char *text;
    const char *label;  /* backend, architecture and model, or the beginning of the text */
    const char *device; /* as a run on it named it; "" */
    int64_t cache;      /* bytes of the last-level cache; 0: not known */
    kw_roof peak[KW_DTYPE_COUNT], memory;
    size_t answers;
} kw_report_target;

typedef struct kw_report_problem {
    const char *text;
    kw_problem value;
    bool known; /* the text can be read; else value, flops and bytes are of no meaning */
    double flops, bytes;
} kw_report_problem;

/* Read from the text's words alone, so that kernels of families that this version does not know can be reported. */
typedef struct kw_report_config {
    const char *text, *family;
    uint32_t family_number, shape; /* in families, shapes */
    bool reference;
} kw_report_config;

/* An answer. */
typedef struct kw_report_entry {
    uint32_t target, problem, config, detail;
    kw_outcome outcome;
    bool packed, cold;
    int32_t samples;
    double time_ns, spread_ns, half_ns[2];
    double score_ns; /* mean of the halves; its one time where it has none; of what was dropped as slow what was seen; 0: none */
} kw_report_entry;

/* Any row, in the order of its run. */
typedef struct kw_report_row {
    uint32_t run, config;
    int64_t sequence;
    double control_ns, drift, compile_ns;
    double kernel_ns; /* spent in timed calls */
    double second;    /* its time, of the epoch; 0: not known */
    int64_t code_bytes;
    bool good;
} kw_report_row;

/* All answers for one problem on one target, timed in one way. */
typedef struct kw_report_group {
    size_t first, count; /* entries */
    uint32_t target, problem;
    bool packed, cold;
    size_t good, failed, unfit; /* entries: with a time, slow ones included; named failures; that do not serve the problem */
    size_t best;                /* entry, or KW_NOWHERE */
    double oracle_ns;           /* the best, chosen by one half of the samples and scored by the other (kw_oracle); 0: none */
    bool halves;                /* oracle_ns was made that way; else it is the least time */
    double roof_ns;             /* the least that the roofs allow; 0: not known */
    bool by_memory;             /* the memory's roof is the lower one */
} kw_report_group;

typedef struct kw_report_data {
    kw_arena arena;
    const char *id, *name; /* of the store; its path */
    kw_string_table target_names, problem_names, config_names, run_names, details, families, shapes;
    kw_report_target *targets;
    kw_report_problem *problems;
    kw_report_config *configs;
    kw_run *runs;
    kw_report_entry *entries;
    kw_report_row *rows_in_order;
    kw_report_group *problem_groups;
    size_t target_room, problem_room, config_room, run_room, entry_room, rows_in_order_room, problem_group_room;
    size_t entry_count, rows_in_order_count, problem_group_count;
    int64_t outcome[KW_OUTCOME_COUNT]; /* of answers */
    size_t timeless, halfless;         /* good answers without a time; with a time but without halves */
    char first[32], last[32];          /* times of the first and the last row; "" */
} kw_report_data;

/* By hand: add runs and rows in any order, then settle. name is copied. false or KW_NO_MEMORY: no memory. */
kw_status kw_report_data_create(kw_report_data **report_data, const char *id, const char *name, kw_error *err);
bool kw_report_data_add_run(kw_report_data *report_data, const kw_run *run);
bool kw_report_data_add_answer(kw_report_data *report_data, const kw_row *row);
bool kw_report_data_add_row(kw_report_data *report_data, const kw_row *row);
kw_status kw_report_data_finish(kw_report_data *report_data, kw_error *err);
void kw_report_data_close(kw_report_data **report_data);
/* From a store's file, settled. */
kw_status kw_report_data_open(kw_report_data **report_data, const char *path, kw_error *err);

/* Whether every type's arithmetic roof in use was measured. */
bool kw_target_is_measured(const kw_report_target *target);
/* Roof over time: 1 at the roof; 0 where one of them is not known. */
double kw_report_group_efficiency(const kw_report_group *problem_group);
/* Share of the oracle that an entry reaches; 0 for a failure, and where there is no oracle. */
double kw_report_entry_share(const kw_report_group *problem_group, const kw_report_entry *entry);
/* " cold", " fresh weights" where the problem group is timed so, else "". */
const char *kw_report_group_mode(const kw_report_group *problem_group);

#endif
