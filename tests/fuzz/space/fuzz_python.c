/* fuzz_python.c: any text as a Python module of problems: legal problems come out, or one line. JSON lists are fuzz_list's. */
#include "fuzz/accepted.h"
#include "space/problems/formats/literals.h"

static bool check(void *user, const char *name, const kw_problem *problem) {
    (void)user;
    require(name != NULL);
    check_accepted(problem);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_list_reader how = {KW_OP_COUNT, KW_DTYPE_COUNT, check, NULL};
    kw_error err = {0};
    kw_status status = kw_python_problems_read(&how, "module", (const char *)data, size, &err);
    require(status == err.status);
    require(!status || (!strncmp(err.text, "module:", 7) && !strchr(err.text, '\n')));
    return 0;
}
