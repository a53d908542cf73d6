/* fuzz_list.c: any text as a problem list: names and legal problems come out, or one line that names the line at fault. */
#include "fuzz/accepted.h"
#include "base/text.h"
#include "space/problems/problems.h"

static bool check(void *user, const char *name, const kw_problem *problem) {
    (void)user;
    require(name && !strchr(name, '\n'));
    check_accepted(problem);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_text text = {0};
    kw_text_add_bytes(&text, data, size);
    require(!text.failed);
    kw_list_reader how = {KW_OP_COUNT, KW_DTYPE_COUNT, check, NULL};
    kw_error err = {0};
    kw_status status = kw_list_read(&how, "list", text.data, text.size, &err);
    require(status == err.status);
    require(!status || !strncmp(err.text, "list:", 5));
    kw_text_drop(&text);
    return 0;
}
