/* fuzz_rules.c: any text as a rule file. Its first byte says which: an architecture (a), a set (s), else a family. The other two are good ones. Enumerating either succeeds, with configs that can be generated, or is refused in one line that names a file, within the
 * interpreter's limits. KW_RULES names the folder, which lies in TMPDIR. */
#include "fuzz/fuzz.h"
#include "space/enumerate.h"
#include "space/rules/rules.h"

#include <stdio.h>
#include <sys/stat.h>

/* What is fuzzed, and what stands there when another one is. */
static const char *const files[] = {"arch/fuzzed.lua", "sets/fuzzed.lua", "families/gemm.tiled.lua"};
static const char small_set[] =
    "return { about = \"few\", families = { [\"gemm.tiled\"] = function(c) return c.tile_m == 4 and c.vecs == 1 end } }";

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void write_file(const char *name, const void *data, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("KW_RULES"), name);
    FILE *file = fopen(path, "w");
    require(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static const kw_embedded *embedded(const char *name) {
    const kw_embedded *file = kw_embedded_rules;
    while (file->name && strcmp(file->name, name)) {
        file++;
    }
    require(file->name != NULL);
    return file;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static const char *const kinds[] = {"arch", "sets", "families", "tables"};
    char folder[256], path[512];
    (void)argc, (void)argv;
    snprintf(folder, sizeof folder, "%s/rules-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    require(mkdtemp(folder) != NULL && setenv("KW_RULES", folder, 1) == 0);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, kinds[i]);
        require(mkdir(path, 0700) == 0);
    }
    for (const kw_embedded *file = kw_embedded_rules; file->name; file++) {
        write_file(file->name, file->text, kw_embedded_size(file));
    }
    return 0;
}

static bool look(void *user, const kw_config *config) {
    size_t *count = user;
    require(kw_config_check(config, NULL) == KW_OK);
    return ++*count < 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int which = !size ? 2 : data[0] == 'a' ? 0 : data[0] == 's' ? 1 : 2;
    size_t count = 0;
    kw_error err = {0};
    const kw_embedded *arch = embedded("arch/x86-64-v3.lua"), *family = embedded(files[2]);
    write_file(files[0], arch->text, kw_embedded_size(arch));
    write_file(files[1], small_set, sizeof small_set - 1);
    write_file(files[2], family->text, kw_embedded_size(family));
    write_file(files[which], data + (size > 0), size - (size > 0));
    kw_status status =
        kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .arch = "fuzzed", .set = "fuzzed"}, look, &count, &err);
    require(status == err.status);
    require(!status || (*err.text && !strchr(err.text, '\n')));
    return 0;
}
