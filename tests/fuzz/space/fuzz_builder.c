/* fuzz_builder.c: any text as a list of CK Builder, for implicit products in each direction and for depthwise kernels: refused in one line that
 * names the place, or read into configs whose axes lie in their ranges. */
#include "fuzz/fuzz.h"
#include "space/ck/builder_conf.h"

static void read_as(const char *name, kw_op op, kw_word text) {
    const kw_family *family = kw_family_find((kw_word){name, strlen(name)});
    kw_config base = {.family = family, .op = op, .dtype = KW_FP16};
    for (int i = 0; i < family->axis_count; i++) {
        base.axis[i] = family->axes[i].low;
    }
    kw_catalog catalog = {0};
    kw_error err = {0};
    kw_status status = kw_builder_text(&catalog, "input", text, 64, &base, &err);
    require(status == err.status);
    require(!status || (!strncmp(err.text, "input:", 6) && !strchr(err.text, '\n')));
    for (size_t i = 0; i < catalog.count; i++) {
        for (int axis = 0; axis < family->axis_count; axis++) {
            const kw_axis *range = &family->axes[axis];
            int32_t value = catalog.configs[i].axis[axis];
            require(range->words ? value >= 0 && kw_config_axis_word(&catalog.configs[i], range->name).size > 0
                                 : value >= range->low && value <= range->high);
        }
    }
    kw_catalog_drop(&catalog);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_word text = {(const char *)data, size};
    for (int op = KW_CONV_FWD; op <= KW_CONV_BWD_WEIGHT; op++) {
        read_as("conv.igemm", (kw_op)op, text);
    }
    read_as("conv.depthwise_block", KW_CONV_FWD, text);
    return 0;
}
