/* fuzz_import.c: any text given to kw_problem_import, as it is and behind the names of the tools it knows. */
#include "fuzz/accepted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const heads[] = {"",          "conv -F 1 ",       "MIOpenDriver ", "benchdnn ", "--dir=BWD_D ic",
                                        "--matmul ", "hipblaslt-bench ", "GemmTunableOp_"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t head = strlen(heads[i]);
        char *text = malloc(head + size + 1);
        require(text != NULL);
        memcpy(text, heads[i], head);
        memcpy(text + head, data, size);
        text[head + size] = 0;
        kw_problem problem;
        kw_error err = {0};
        kw_problem all[KW_IMPORT_MAX];
        int count = -1;
        kw_status status = kw_problem_import_all(all, &count, text, &err);
        require(status ? count == 0 : count >= 1 && count <= KW_IMPORT_MAX);
        for (int j = 0; j < count; j++) {
            check_accepted(&all[j]);
        }
        err = (kw_error){0};
        kw_status one = kw_problem_import(&problem, text, &err);
        require(status || !one == (count == 1));
        status = one;
        require(status == err.status && (status != KW_OK) == (err.text[0] != 0));
        if (!status) {
            check_accepted(&problem);
        }
        free(text);
    }
    return 0;
}
