/* ck_results.h: what CK Tile's GEMM benchmarks write, as rows: the JSON file of its benchmark generator ("metadata", and in "results" a kernel
 * each with its "benchmarks"), and logs of runs: a line "Shape 3: M=16 N=1536 K=7168 dtype=fp8 layout=rcr" and behind it an object
 * {"name": ..., "problem": {...}, "perf_result": {...}} for each kernel, anything else between them. Kernels keep their names; a time is
 * mistrusted, because nobody has compared a result. Internal to this folder. */
#ifndef KW_STORE_IO_CK_RESULTS_H
#define KW_STORE_IO_CK_RESULTS_H

#include "store/row.h"

typedef struct kw_ck_sink {
    void *user;
    kw_status (*take)(void *user, const kw_row *row, const char *where, kw_error *err);
    void (*refuse)(void *user, const char *where, const kw_error *why);
} kw_ck_sink;

typedef enum kw_ck_format { KW_CK_NONE = 0, KW_CK_JSON, KW_CK_LOG } kw_ck_format;

/* What a text seems to be, by its beginning. */
kw_ck_format kw_ck_results_sniff(kw_word text);
/* Gives every row to the sink, or the reason why it is none. defaults gives run, target and time. KW_MALFORMED: the whole text is not what
 * it should be. */
kw_status kw_ck_results_read(const kw_ck_sink *sink, kw_ck_format format, kw_word text, const kw_row *defaults, kw_error *err);

#endif
