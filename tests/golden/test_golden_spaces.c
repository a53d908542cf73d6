/* test_golden_spaces.c: what the rules yield, held to spaces.txt and gpu_spaces.txt of tests/golden: one line for each set, architecture, family, operation and
 * type with the count of configs and a hash of their texts in order. A change of rules shows there as a change of the lines it
 * meant to change and no others. `make golden` (KW_GOLDEN_WRITE=1) remakes the file. */
#include "base/os/file.h"
#include "base/hash.h"
#include "config/arch/gpu_arch.h"
#include "config/arch/isa.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

typedef struct lines {
    kw_text out, configs; /* the finished lines; the texts of the group under way */
    const char *set, *arch;
    kw_config group;
    size_t count;
    bool tiled; /* only families with axes: the others have one config each */
} lines;

static void end_group(lines *l) {
    if (l->count) {
        char hash[KW_HASH_TEXT];
        kw_hash_text(hash, l->configs.data, l->configs.size);
        kw_text_addf(&l->out, "%s %s %s %s %s %zu %.16s\n", l->set, l->arch, l->group.family->name, kw_op_name(l->group.op),
                     kw_dtype_name(l->group.dtype), l->count, hash);
    }
    l->count = 0;
    kw_text_drop(&l->configs);
}

static bool add(void *user, const kw_config *config) {
    lines *l = user;
    if (l->tiled && !config->family->axis_count) {
        return true;
    }
    if (l->count && (config->family != l->group.family || config->op != l->group.op || config->dtype != l->group.dtype)) {
        end_group(l);
    }
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(&l->configs, "%s\n", text);
    l->group = *config;
    l->count++;
    return true;
}

static void compare_lines(const char *path, const char *old, const char *new) {
    kw_scan old_scan = kw_scan_string(old), new_scan = kw_scan_string(new);
    kw_word old_line = {0}, new_line = {0};
    for (int number = 1;; number++) {
        bool old_more = kw_scan_line(&old_scan, &old_line), new_more = kw_scan_line(&new_scan, &new_line);
        if (!old_more && !new_more) {
            return;
        }
        if (!old_more || !new_more || old_line.size != new_line.size || memcmp(old_line.at, new_line.at, old_line.size)) {
            fail_msg("%s:%d: the file has '%.*s', the rules give '%.*s'; if that is wanted, run `make golden`", path, number,
                     old_more ? (int)old_line.size : 0, old_line.at, new_more ? (int)new_line.size : 0, new_line.at);
        }
    }
}

static void add_set(lines *l, const char *set, const char *arch) {
    kw_error err = {0};
    l->set = set;
    l->arch = arch;
    if (kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .set = set, .arch = arch}, add, l, &err)) {
        fail_msg("%s", err.text);
    }
    end_group(l);
}

/* Compares the lines with a file of this folder, or writes it. */
static void settle(lines *l, const char *name) {
    kw_error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s", KW_GOLDEN_FOLDER, name);
    assert_false(l->out.failed);
    if (getenv("KW_GOLDEN_WRITE")) {
        assert_int_equal(kw_file_replace(path, l->out.data, l->out.size, 0644, &err), KW_OK);
    } else {
        kw_arena arena = {0};
        char *old = NULL;
        size_t size = 0;
        assert_int_equal(kw_file_read(&arena, path, 1 << 20, &old, &size, &err), KW_OK);
        compare_lines(name, old, l->out.data);
        kw_arena_drop(&arena);
    }
    kw_text_drop(&l->out);
}

static const char head[] = "# made by `make golden`: set, architecture, family, operation, type, count of configs, hash of their texts\n";

static void the_rules_yield_what_the_golden_file_says(void **state) {
    (void)state;
    static const char *const sets[] = {"tiny", "tests", "default", "full"};
    lines l = {0};
    kw_text_add(&l.out, head);
    for (int set = 0; set < 4; set++) {
        for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
            add_set(&l, sets[set], arch->name);
        }
    }
    settle(&l, "spaces.txt");
}

static void the_rules_of_gpus_yield_what_the_golden_file_says(void **state) {
    (void)state;
    static const char *const sets[] = {"tiny", "default", "full-tests", "full"};
    lines l = {.tiled = true};
    kw_text_add(&l.out, head);
    for (int set = 0; set < 4; set++) {
        for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
            add_set(&l, sets[set], arch->name);
        }
    }
    add_set(&l, "gemm-sweep", "gfx90a");
    add_set(&l, "gemm-sweep", "gfx942");
    settle(&l, "gpu_spaces.txt");
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rules_yield_what_the_golden_file_says),
                                       cmocka_unit_test(the_rules_of_gpus_yield_what_the_golden_file_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
