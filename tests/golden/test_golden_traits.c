/* test_golden_traits.c: what the sample trait files select, held to tests/golden/traits.txt: one line for each file, set and architecture
 * with the count of configs and a hash of their texts in order. `make golden` (KW_GOLDEN_WRITE=1) remakes the file. */
#include "base/os/file.h"
#include "base/hash.h"
#include "config/config.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

typedef struct pool {
    kw_text texts;
    size_t count;
} pool;

static bool add(void *user, const kw_config *config) {
    pool *p = user;
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(&p->texts, "%s\n", text);
    p->count++;
    return true;
}

static void add_line(kw_text *out, const char *file, const char *set, const char *arch) {
    pool p = {0};
    kw_error err = {0};
    char path[512], hash[KW_HASH_TEXT];
    snprintf(path, sizeof path, "%s/%s.json", KW_TRAITS_FOLDER, file);
    if (kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .set = set, .arch = arch, .traits = path}, add, &p, &err)) {
        fail_msg("%s", err.text);
    }
    kw_hash_text(hash, kw_text_string(&p.texts), p.texts.size);
    kw_text_addf(out, "%s %s %s %zu %.16s\n", file, set ? set : "-", arch, p.count, hash);
    kw_text_drop(&p.texts);
}

/* set NULL: none is named. */
static void add_lines(kw_text *out, const char *const *files, const char *const *sets, const char *const *arches) {
    for (; *files; files++) {
        for (int set = 0; set < 3; set++) {
            for (const char *const *arch = arches; *arch; arch++) {
                add_line(out, *files, sets[set], *arch);
            }
        }
    }
}

static void sample_files_select_what_the_golden_file_says(void **state) {
    (void)state;
    static const char *const published[] = {"forward_bf16", "bwd_data", "bwd_weight", "gemm_fp16", NULL}, *const own[] = {"direct_wide",
                                                                                                                          NULL};
    static const char *const sets[] = {NULL, "tiny", "default"};
    static const char *const gpus[] = {"gfx90a", "gfx942", "gfx950", "gfx1201", "sm_90", NULL}, *const cpus[] = {"x86-64-v3",
                                                                                                                 "x86-64-v4-bf16", NULL};
    static const char path[] = KW_GOLDEN_FOLDER "/traits.txt";
    kw_text out = {0};
    kw_error err = {0};
    kw_text_add(&out, "# made by `make golden`: trait file, set (- for none), architecture, count of configs, hash of their texts\n");
    add_lines(&out, published, sets, gpus);
    add_lines(&out, published, sets, cpus);
    add_lines(&out, own, sets, cpus);
    assert_false(out.failed);
    if (getenv("KW_GOLDEN_WRITE")) {
        assert_int_equal(kw_file_replace(path, out.data, out.size, 0644, &err), KW_OK);
    } else {
        kw_arena arena = {0};
        char *old = NULL;
        size_t size = 0;
        assert_int_equal(kw_file_read(&arena, path, 1 << 20, &old, &size, &err), KW_OK);
        assert_string_equal(old, out.data);
        kw_arena_drop(&arena);
    }
    kw_text_drop(&out);
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {cmocka_unit_test(sample_files_select_what_the_golden_file_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
