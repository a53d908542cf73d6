/* fuzz_list.c: any bytes as a problem list. Each problem that comes out is legal and survives its text. */
#include "base/text.h"
#include "space/problems.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool check(void *user, const char *name, const kw_problem *problem) {
    (void)user;
    char text[KW_PROBLEM_TEXT_MAX], again[KW_PROBLEM_TEXT_MAX];
    kw_problem parsed;
    if (!name || kw_problem_check(problem, NULL) || kw_problem_print(text, sizeof text, problem) >= sizeof text ||
        kw_problem_parse(&parsed, text, NULL)) {
        abort();
    }
    kw_problem_print(again, sizeof again, &parsed);
    if (strcmp(text, again)) {
        abort();
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_text text = {0};
    kw_text_add_bytes(&text, data, size);
    kw_list_reading how = {KW_OP_COUNT, KW_DTYPE_COUNT, check, NULL};
    kw_error err = {0};
    if (text.data && kw_list_read(&how, "list", text.data, text.size, &err) && (!*err.text || strchr(err.text, '\n'))) {
        abort();
    }
    kw_text_drop(&text);
    return 0;
}
