/* seed_csv.h: rows in the columns of the benchmark files of the system that this one re-creates: kernel, problem_idx, N, C, K, G, Di, Hi, Wi, Z, Y,
 * X, stride_*, pad_*, dilation_*, latency_ms, tflops, non_zero. tflops there counts taps in the padding and uses the forward formula
 * in every direction, 2 N K Do Ho Wo (C/G) Z Y X / (latency 1e9). Internal to this folder. */
#ifndef KW_STORE_IO_SEED_CSV_H
#define KW_STORE_IO_SEED_CSV_H

#include "store/io/csv_record.h"
#include "store/row.h"

enum { KW_SEED_COLUMNS = 24 };

/* Which cell of the file holds each column; -1: none, as in the 17 older ones. */
typedef struct kw_seed_header {
    int cell[KW_SEED_COLUMNS];
    int count;
} kw_seed_header;

void kw_seed_add_header(kw_text *text);
/* Whether a convolution has columns: its far padding must be that of the near side. */
bool kw_seed_holds(const kw_problem *problem);
void kw_seed_add_row(kw_text *text, const kw_row *row, const kw_problem *problem, int64_t problem_index);

/* Whether a header is one of these, 24 or 17 columns in any order. */
bool kw_seed_header_read(kw_seed_header *header, const kw_csv_record *cells);
/* defaults gives run, target, packed, cold, time and, by its problem, operation and type; sequence is the line. A time of a kernel that is
 * no config of ours makes a row that is mistrusted: nobody has compared its result. */
kw_status kw_seed_row_read(kw_row *row, const kw_seed_header *header, const kw_csv_record *cells, const kw_row *defaults, kw_error *err);

#endif
