/* fuzz_traits.c: any text as a trait file, and as a config with gaps: refused in one line, or read; what was read answers for a config of every
 * family, and gives values of its axes. */
#include "base/container/arena.h"
#include "fuzz/fuzz.h"
#include "space/ck/traits.h"

static void ask_all_families(const kw_traits *traits) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        kw_config config = {.family = *family};
        kw_axis_values values;
        uint32_t every;
        kw_arena arena = {0};
        kw_error err = {0};
        for (int i = 0; i < config.family->axis_count; i++) {
            config.axis[i] = config.family->axes[i].low;
        }
        require(!kw_traits_allow(traits, &config) || traits->ops & 1u);
        require(!kw_traits_axes(&values, &every, traits, *family, &arena, &err));
        require(!kw_traits_check_kind(traits, (*family)->kind, "arch", &err) || !strchr(err.text, '\n'));
        kw_arena_drop(&arena);
    }
}

static void ask_or_refuse(kw_traits *traits, kw_status status, const kw_error *err) {
    require(status == err->status);
    if (status) {
        require(*err->text && !strchr(err->text, '\n') && !traits->arena.last);
    } else {
        ask_all_families(traits);
    }
    kw_traits_drop(traits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_traits file = {0}, config = {0};
    kw_arena arena = {0};
    kw_error file_err = {0}, config_err = {0};
    char *text = kw_arena_copy(&arena, (const char *)data, size);
    require(text != NULL);
    kw_status status = kw_traits_read(&file, "input", (const char *)data, size, &file_err);
    ask_or_refuse(&file, status, &file_err);
    kw_config_is_pattern(text);
    status = kw_traits_of_config(&config, text, &config_err);
    ask_or_refuse(&config, status, &config_err);
    kw_arena_drop(&arena);
    return 0;
}
