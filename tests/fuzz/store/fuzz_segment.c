/* fuzz_segment.c: any bytes as a segment. Every line is a row, a run, damaged or blank. */
#include "fuzz/fuzz.h"
#include "store/io/reader.h"
#include "store/segment.h"

static kw_status take_row(void *user, const kw_row *row, kw_error *err) {
    (void)err;
    require(row->target[0] && row->problem[0] && row->record.config[0] && row->run[0]);
    ++*(int64_t *)user;
    return KW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int64_t rows = 0;
    kw_segment_visitor visitor = {NULL, take_row, &rows};
    kw_segment_counts counts;
    kw_reader *reader;
    require(kw_reader_open_bytes(&reader, data, size, NULL) == KW_OK);
    require(kw_segment_read_lines(reader, &visitor, &counts, NULL) == KW_OK);
    kw_reader_close(&reader);
    require(counts.rows == rows && counts.damaged >= 0 && (counts.damaged + counts.refused > 0) == (*counts.first_fault != 0));
    int64_t ends = 1;
    for (size_t i = 0; i < size; i++) {
        ends += data[i] == '\n';
    }
    require(counts.rows + counts.runs + counts.damaged + counts.refused <= ends);
    return 0;
}
