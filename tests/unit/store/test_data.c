/* test_data.c: the measured rows that the repository holds are whole: every line is what its checksum says, and rows read as rows. Readers
 * pass over what is damaged, so nothing else would notice a file that was edited. */
#include "store/io/reader.h"
#include "store/line.h"
#include "support/kw_test.h"

#include <dirent.h>

enum { PARSED_EACH = 64 }; /* a checksum is cheap, reading a row is not */

static size_t check_file(const char *path) {
    kw_reader *reader = NULL;
    kw_reader_line line;
    bool more = true;
    size_t lines = 0, rows = 0;
    kw_error err = {0};
    assert_ok(kw_reader_open(&reader, path, &err), &err);
    for (; !kw_reader_next(reader, &line, &more, &err) && more; lines++) {
        kw_line_kind kind = kw_line_kind_of(line.text);
        kw_row row;
        kw_run run;
        if (kw_line_check_sum(line.text.at, line.text.size, &err) ||
            (kind == KW_LINE_RUN && kw_run_parse(&run, line.text.at, line.text.size, &err)) ||
            (kind != KW_LINE_RUN && rows++ % PARSED_EACH == 0 && kw_row_parse(&row, line.text.at, line.text.size, &err))) {
            fail_msg("%s:%lld: %s", path, (long long)line.number, err.text);
        }
    }
    assert_ok(err.status, &err);
    kw_reader_close(&reader);
    return lines;
}

static void committed_rows_are_whole(void **state) {
    (void)state;
    char path[4096];
    size_t files = 0;
    DIR *folder = opendir(KW_DATA);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".jsonl.gz")) {
            snprintf(path, sizeof path, "%s/%s", KW_DATA, entry->d_name);
            assert_true(check_file(path) > 500);
            files++;
        }
    }
    closedir(folder);
    assert_true(files >= 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(committed_rows_are_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
