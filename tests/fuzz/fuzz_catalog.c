/* fuzz_catalog.c: any text as a catalog, as one config and as a target. What is accepted prints a text that is read back to the same value. */
#include "fuzz/fuzz.h"

#include "config/catalog.h"
#include "problem/target/target.h"

static void check_config(const kw_config *config) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config again;
    require(kw_config_check(config, NULL) == KW_OK);
    require(kw_config_print(text, sizeof text, config) < sizeof text);
    require(kw_config_parse(&again, text, NULL) == KW_OK);
    require(!memcmp(&again, config, sizeof again));
}

static void check_target(const char *text) {
    kw_target target, again;
    char printed[KW_TARGET_TEXT_MAX];
    if (!kw_target_parse(&target, text, NULL)) {
        require(kw_target_print(printed, sizeof printed, &target) < sizeof printed);
        require(kw_target_parse(&again, printed, NULL) == KW_OK);
        require(!memcmp(&again, &target, sizeof again));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_catalog catalog = {0};
    kw_config config;
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    kw_catalog_read(&catalog, "fuzz", (const char *)data, size, NULL);
    for (size_t i = 0; i < catalog.count; i++) {
        check_config(&catalog.configs[i]);
    }
    kw_catalog_drop(&catalog);
    if (!kw_config_parse(&config, text, NULL)) {
        check_config(&config);
    }
    check_target(text);
    free(text);
    return 0;
}
