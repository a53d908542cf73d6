/* fuzz_row.c: any text as a line, and any members behind a right checksum. A row or run that is taken prints to a line that gives the same
 * again. */
#include "fuzz/fuzz.h"
#include "store/line.h"
#include "store/io/plausible.h"

#include <stdio.h>

static void check_row(const char *line, size_t size) {
    kw_row row, again;
    kw_error err = {0};
    char *printed = NULL, a[KW_HASH_TEXT], b[KW_HASH_TEXT];
    kw_status status = kw_row_parse(&row, line, size, &err);
    require(status == err.status);
    if (!status) {
        require(kw_row_print(&printed, &row, NULL) == KW_OK);
        require(kw_row_parse(&again, printed, strlen(printed), NULL) == KW_OK);
        require(kw_row_digest(a, &row, NULL) == KW_OK && kw_row_digest(b, &again, NULL) == KW_OK && !strcmp(a, b));
        kw_row_plausible(&row, &err);
        free(printed);
    }
}

static void check_run(const char *line, size_t size) {
    kw_run run, again;
    kw_error err = {0};
    char *printed = NULL;
    kw_status status = kw_run_parse(&run, line, size, &err);
    require(status == err.status);
    if (!status) {
        require(kw_run_print(&printed, &run, NULL) == KW_OK);
        require(kw_run_parse(&again, printed, strlen(printed), NULL) == KW_OK);
        require(!memcmp(&run, &again, sizeof run));
        free(printed);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_text text = {0};
    check_row((const char *)data, size);
    check_run((const char *)data, size);
    kw_text_add_bytes(&text, data, size);
    kw_text_addf(&text, ",\"sum\":\"%016llx\"}", (unsigned long long)kw_hash64(data, size));
    require(!text.failed);
    check_row(text.data, text.size);
    check_run(text.data, text.size);
    kw_text_drop(&text);
    return 0;
}
