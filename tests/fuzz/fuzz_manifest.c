/* fuzz_manifest.c: any lines as a manifest, with the checksum they should have: refused in one line, or read; what was read prints, reads
 * again as the same, and has as many pairs as it says. */
#include "base/hash.h"
#include "sweep/shards/manifest.h"
#include "fuzz/fuzz.h"

/* The input's lines between the first line and the checksum. */
static void frame(kw_text *text, const uint8_t *data, size_t size) {
    char hash[KW_HASH_TEXT];
    kw_text_add(text, "kernelwright-manifest 1\n");
    kw_text_add_bytes(text, data, size);
    kw_text_add(text, size && data[size - 1] != '\n' ? "\n" : "");
    kw_hash_text(hash, text->data, text->size);
    kw_text_addf(text, "checksum %s\n", hash);
}

static void check_pairs(const kw_manifest *m) {
    uint32_t *positions = calloc(m->configs.count + 1, sizeof *positions);
    int64_t pairs = 0;
    for (size_t problem = 0; positions && problem < m->problems.count; problem++) {
        pairs += (int64_t)kw_manifest_configs(positions, m, problem);
    }
    require(!positions || pairs == kw_manifest_pairs(m));
    free(positions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_manifest m = {0}, again = {0};
    kw_text text = {0}, first = {0}, second = {0};
    kw_error err = {0};
    require(kw_manifest_parse(&m, "raw", (const char *)data, size, NULL) || size > 0);
    kw_manifest_drop(&m);
    frame(&text, data, size);
    kw_status status = kw_manifest_parse(&m, "input", text.data, text.size, &err);
    require(status == err.status);
    if (status) {
        require(*err.text && !strchr(err.text, '\n') && !m.configs.configs);
    } else {
        check_pairs(&m);
        require(!kw_manifest_print(&first, &m, NULL) && !kw_manifest_parse(&again, "output", first.data, first.size, NULL));
        require(!kw_manifest_print(&second, &again, NULL) && !strcmp(first.data, second.data));
        require(!kw_manifest_add(&again, &m, NULL) && kw_manifest_pairs(&again) == kw_manifest_pairs(&m));
    }
    kw_manifest_drop(&m);
    kw_manifest_drop(&again);
    kw_text_drop(&text);
    kw_text_drop(&first);
    kw_text_drop(&second);
    return 0;
}
