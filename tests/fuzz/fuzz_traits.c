/* fuzz_traits.c: any text as a trait file: refused in one line, or read; what was read answers for a config of every family. */
#include "fuzz.h"
#include "space/ck/traits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_traits traits = {0};
    kw_error err = {0};
    kw_status status = kw_traits_read(&traits, "input", (const char *)data, size, &err);
    require(status == err.status);
    if (status) {
        require(*err.text && !strchr(err.text, '\n') && !traits.arena.last);
    }
    for (const kw_family *const *family = kw_family_table; !status && *family; family++) {
        kw_config config = {.family = *family};
        for (int i = 0; i < config.family->axis_count; i++) {
            config.axis[i] = config.family->axes[i].low;
        }
        require(!kw_traits_allow(&traits, &config) || traits.ops & 1u);
    }
    kw_traits_drop(&traits);
    return 0;
}
