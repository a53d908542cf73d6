/* fuzz_store_csv.c: any text as a CSV of rows: as it is, and behind the good headers of both kinds. A row that is taken prints to a record
 * that gives the same again. */
#include "fuzz/fuzz.h"
#include "store/io/plausible.h"
#include "store/io/seed_csv.h"
#include "store/sizes.h"
#include "store/io/table_csv.h"

static kw_reader *open_behind(const char *header, const uint8_t *data, size_t size, kw_text *text) {
    kw_reader *reader = NULL;
    kw_text_add(text, header);
    kw_text_add_bytes(text, data, size);
    require(!text->failed && kw_reader_open_bytes(&reader, text->data, text->size, NULL) == KW_OK);
    return reader;
}

/* The next record; false at the end. */
static bool next(kw_csv_record *cells, kw_reader *reader, kw_status *status) {
    bool more = true;
    kw_error err = {0};
    *status = kw_csv_record_read(cells, reader, &more, &err);
    require(*status == err.status);
    return more;
}

static void read_table(const uint8_t *data, size_t size, const char *header) {
    kw_text text = {0};
    kw_csv_record cells = {0};
    kw_table_header table;
    kw_status status;
    kw_reader *reader = open_behind(header, data, size, &text);
    if (next(&cells, reader, &status) && !status && !kw_table_header_read(&table, &cells, NULL)) {
        while (next(&cells, reader, &status)) {
            kw_row row, settled;
            kw_run run;
            if (!status && !kw_table_row_read(&row, &run, &table, &cells, NULL) && !kw_row_normalize(&settled, &row, NULL)) {
                kw_row_plausible(&settled, NULL);
            }
        }
    }
    kw_reader_close(&reader);
    kw_csv_record_drop(&cells);
    kw_text_drop(&text);
}

static void read_seed(const uint8_t *data, size_t size, const char *header) {
    static const kw_row defaults = {.run = "r", .target = "t", .problem = "conv_fwd fp32 nhwgc n1 c1 k1 i1x1 f1x1"};
    kw_text text = {0};
    kw_csv_record cells = {0};
    kw_seed_header seed;
    kw_status status;
    kw_reader *reader = open_behind(header, data, size, &text);
    if (next(&cells, reader, &status) && !status && kw_seed_header_read(&seed, &cells)) {
        while (next(&cells, reader, &status)) {
            kw_row row;
            kw_problem problem;
            kw_text out = {0};
            if (!status && !kw_seed_row_read(&row, &seed, &cells, &defaults, NULL)) {
                require(kw_problem_parse(&problem, row.problem, NULL) == KW_OK && kw_seed_holds(&problem));
                kw_seed_add_row(&out, &row, &problem, 0);
                kw_row_plausible(&row, NULL);
            }
            kw_text_drop(&out);
        }
    }
    kw_reader_close(&reader);
    kw_csv_record_drop(&cells);
    kw_text_drop(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char old_header[] = "kernel,problem_idx,N,C,K,G,Hi,Wi,Y,X,stride_h,stride_w,pad_h,pad_w,latency_ms,tflops,non_zero\n";
    kw_text header = {0};
    kw_seed_add_header(&header);
    require(!header.failed);
    read_seed(data, size, header.data);
    read_seed(data, size, old_header);
    kw_text_drop(&header);
    kw_table_add_header(&header);
    require(!header.failed);
    read_table(data, size, header.data);
    read_table(data, size, "");
    kw_text_drop(&header);
    return 0;
}
