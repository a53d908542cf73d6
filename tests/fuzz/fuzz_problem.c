/* fuzz_problem.c: any text given to kw_problem_parse. */
#include "fuzz/accepted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    kw_problem problem;
    kw_error err = {0};
    kw_status status = kw_problem_parse(&problem, text, &err);
    require(status == err.status && (status != KW_OK) == (err.text[0] != 0));
    if (!status) {
        check_accepted(&problem);
    }
    free(text);
    return 0;
}
