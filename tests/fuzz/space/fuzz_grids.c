/* fuzz_grids.c: any text as a set of grids: named, legal problems come out, or one line that names the set. */
#include "fuzz/accepted.h"
#include "space/problems/grids.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_grid_list list = {0};
    kw_error err = {0};
    kw_status status = kw_grids_read(&list, "set.lua", (kw_word){(const char *)data, size}, KW_DTYPE_COUNT, &err);
    require(status == err.status);
    require(!status || (!strncmp(err.text, "set.lua", 7) && !list.count));
    for (size_t i = 0; i < list.count && i < 1000; i++) {
        require(list.points[i].name[0] && !strchr(list.points[i].name, ' '));
        check_accepted(&list.points[i].problem);
    }
    kw_grids_drop(&list);
    return 0;
}
