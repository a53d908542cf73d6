/* make_archs.c: a program of the build. It reads the architecture files (rules/arch/NAME.lua) and prints the tables kw_cpu_archs and
 * kw_gpu_archs as C source. The files are our own, so a fault in one ends the build with a line that names it.
 *
 * Usage: make_archs OUTPUT FILE.lua ... The tables have the order of the files. The form of a file is in docs/kernels/rules.md. */
#include "config/arch/gpu_arch.h"
#include "config/arch/isa.h"
#include "problem/names/names.h"

#include "base/os/file.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const isa_names[] = {
#define KW_ISA_NAME(id, name, lanes, registers) name,
    KW_ISAS(KW_ISA_NAME, )
#undef KW_ISA_NAME
};

static const char *const cpu_feature_names[] = {
#define KW_CPU_FEATURE_NAME(id, word) word,
    KW_CPU_FEATURES(KW_CPU_FEATURE_NAME)
#undef KW_CPU_FEATURE_NAME
};

static const char *const feature_names[] = {
#define KW_FEATURE(name, meaning) #name,
    KW_GPU_FEATURES(KW_FEATURE)
#undef KW_FEATURE
};

typedef struct arch_file {
    const char *path;
    char name[32], symbol[40];
    lua_State *lua;
} arch_file;

static _Noreturn void fail_field(const arch_file *file, const char *what, const char *value) {
    fprintf(stderr, "make_archs: %s: %s%s%s\n", file->path, what, value ? ": " : "", value ? value : "");
    exit(1);
}

/* The field of the table on top of the stack, which stays there. */
static const char *string_field(const arch_file *file, const char *name) {
    if (lua_getfield(file->lua, -1, name) != LUA_TSTRING) {
        fail_field(file, "must be a string", name);
    }
    const char *value = lua_tostring(file->lua, -1);
    lua_pop(file->lua, 1); /* the table keeps it */
    return value;
}

static long long integer_field(const arch_file *file, const char *name) {
    int good = 0;
    lua_getfield(file->lua, -1, name);
    long long value = lua_tointegerx(file->lua, -1, &good);
    if (!good || value < 0) {
        fail_field(file, "must be a whole number of at least 0", name);
    }
    lua_pop(file->lua, 1);
    return value;
}

static void push_table(const arch_file *file, const char *name) {
    if (lua_getfield(file->lua, -1, name) != LUA_TTABLE) {
        fail_field(file, "must be a table", name);
    }
}

/* "16x16x32" */
static void read_triple(const arch_file *file, const char *text, int triple[3]) {
    char end;
    if (!text || sscanf(text, "%dx%dx%d%c", &triple[0], &triple[1], &triple[2], &end) != 3 || triple[0] < 1 || triple[1] < 1 ||
        triple[2] < 1) {
        fail_field(file, "is not of the form MxNxK", text ? text : "(not a string)");
    }
}

/* The list of words in field "features" as bits of their places among names. */
static unsigned read_arch_features(const arch_file *file, const char *const *names, int count) {
    unsigned bits = 0;
    push_table(file, "features");
    for (lua_Integer i = 1; lua_rawgeti(file->lua, -1, i) != LUA_TNIL; i++) {
        const char *word = lua_tostring(file->lua, -1);
        int bit = 0;
        while (bit < count && (!word || strcmp(word, names[bit]))) {
            bit++;
        }
        if (bit == count) {
            fail_field(file, "no such feature", word);
        }
        bits |= 1u << bit;
        lua_pop(file->lua, 1);
    }
    lua_pop(file->lua, 2);
    return bits;
}

static int print_waves(const arch_file *file, kw_text *out) {
    int count = 0;
    push_table(file, "waves");
    kw_text_addf(out, "static const int8_t %s_waves[][3] = {", file->symbol);
    for (; lua_rawgeti(file->lua, -1, count + 1) != LUA_TNIL; count++) {
        int waves[3];
        read_triple(file, lua_tostring(file->lua, -1), waves);
        kw_text_addf(out, "{%d, %d, %d}, ", waves[0], waves[1], waves[2]);
        lua_pop(file->lua, 1);
    }
    kw_text_add(out, "{0, 0, 0}};\n");
    lua_pop(file->lua, 2);
    return count;
}

/* The tiles of one key, "fp16" or "fp8*bf8"; returns their count. */
static int print_arch_key(const arch_file *file, const char *key, unsigned *dtypes, kw_text *out) {
    const char *star = strchr(key, '*'), *second = star ? star + 1 : key;
    kw_dtype a = KW_DTYPE_COUNT, b = KW_DTYPE_COUNT;
    int count = 0;
    if (!kw_dtype_of_word(&a, (kw_word){key, star ? (size_t)(star - key) : strlen(key)}) ||
        !kw_dtype_of_word(&b, (kw_word){second, strlen(second)})) {
        fail_field(file, "no such type", key);
    }
    *dtypes |= a == b ? 1u << a : 0;
    for (; lua_rawgeti(file->lua, -1, count + 1) != LUA_TNIL; count++) {
        int shape[3];
        read_triple(file, lua_tostring(file->lua, -1), shape);
        kw_text_addf(out, "    {%d, %d, %d, %d, %d},\n", a, b, shape[0], shape[1], shape[2]);
        lua_pop(file->lua, 1);
    }
    lua_pop(file->lua, 1);
    return count;
}

/* A table of tiles in a fixed order of keys, so that the output is the same on every run; every key must be one of these. */
static int print_tiles(const arch_file *file, const char *field, unsigned *dtypes, kw_text *out) {
    int count = 0, keys = 0, present = 0;
    push_table(file, field);
    kw_text_addf(out, "static const kw_gpu_tile %s_%s[] = {\n", file->symbol, field);
    for (kw_dtype a = 0; a < KW_DTYPE_COUNT; a++) {
        for (kw_dtype b = 0; b < KW_DTYPE_COUNT; b++) {
            char key[16];
            snprintf(key, sizeof key, a == b ? "%s" : "%s*%s", kw_dtype_name(a), kw_dtype_name(b));
            if (lua_getfield(file->lua, -1, key) == LUA_TTABLE) {
                count += print_arch_key(file, key, dtypes, out);
                present++;
            }
            lua_pop(file->lua, 1);
        }
    }
    for (lua_pushnil(file->lua); lua_next(file->lua, -2); lua_pop(file->lua, 1)) {
        keys++;
    }
    if (keys != present) {
        fail_field(file, "has a key that is no type or pair of types", field);
    }
    kw_text_add(out, "    {0},\n};\n");
    lua_pop(file->lua, 1);
    return count;
}

static void print_typical(const arch_file *file, kw_text *out) {
    kw_text_addf(out, "{.backend = %d, .arch = \"%s\", .model = \"emulated\"", KW_BACKEND_EMU, file->name);
    push_table(file, "typical");
#define KW_FACT(fact, scope, meaning)                                                                                                      \
    if (scope != KW_OF_CPU) {                                                                                                              \
        kw_text_addf(out, ", ." #fact " = %lld", integer_field(file, #fact));                                                              \
    }
    KW_TARGET_FACTS(KW_FACT)
#undef KW_FACT
    kw_text_add(out, "}");
    lua_pop(file->lua, 1);
}

/* Whether the list of words in the field of the table on top of the stack has one; a list that is not there has none. */
static bool has_arch_word(const arch_file *file, const char *field, const char *word) {
    bool found = false;
    if (lua_getfield(file->lua, -1, field) == LUA_TTABLE) {
        for (lua_Integer i = 1; lua_rawgeti(file->lua, -1, i) != LUA_TNIL; i++) {
            found = found || (lua_type(file->lua, -1) == LUA_TSTRING && !strcmp(lua_tostring(file->lua, -1), word));
            lua_pop(file->lua, 1);
        }
        lua_pop(file->lua, 1);
    }
    lua_pop(file->lua, 1);
    return found;
}

static void print_cpu_arch(const arch_file *file, kw_text *list) {
    kw_text_addf(list, "    {.name = \"%s\", .lanes = %lld, .registers = %lld, .isas = ", file->name, integer_field(file, "lanes"),
                 integer_field(file, "registers"));
    unsigned isas = 0;
    for (int isa = 0; isa < KW_ISA_COUNT; isa++) {
        isas |= has_arch_word(file, "isa", isa_names[isa]) || has_arch_word(file, "narrow", isa_names[isa]) ? 1u << isa : 0;
    }
    kw_text_addf(list, "%#x, .has = %#x},\n", isas, read_arch_features(file, cpu_feature_names, KW_CPU_FEATURE_COUNT));
}

/* Tables go to tables, the arch's own line to list. */
static void print_gpu_arch(const arch_file *file, kw_backend_id backend, kw_text *tables, kw_text *list) {
    unsigned dtypes = 0, ignored = 0;
    int waves = print_waves(file, tables);
    int tiles = print_tiles(file, "tiles", &dtypes, tables), preshuffle = print_tiles(file, "preshuffle", &ignored, tables);
    kw_text_addf(list, "    {\"%s\", %d, \"%s\", \"%s\", %#x, %#x, ", file->name, (int)backend, string_field(file, "about"),
                 string_field(file, "compile"), read_arch_features(file, feature_names, KW_GPU_FEATURE_COUNT), dtypes);
    print_typical(file, list);
    kw_text_addf(list, ", %s_waves, %d, %s_tiles, %d, %s_preshuffle, %d},\n", file->symbol, waves, file->symbol, tiles, file->symbol,
                 preshuffle);
}

static void print_arch(const arch_file *file, kw_text *tables, kw_text lists[KW_KIND_COUNT]) {
    kw_backend_id backend;
    if (luaL_loadfilex(file->lua, file->path, "t") || lua_pcall(file->lua, 0, 1, 0) || !lua_istable(file->lua, -1)) {
        fail_field(file, "does not return a table", lua_tostring(file->lua, -1));
    }
    const char *name = string_field(file, "backend");
    if (!kw_backend_id_of_device(&backend, name) || kw_backends[backend].emulated) {
        fail_field(file, "no such backend", name);
    }
    if (kw_backends[backend].kind == KW_KIND_CPU) {
        print_cpu_arch(file, &lists[KW_KIND_CPU]);
    } else {
        print_gpu_arch(file, backend, tables, &lists[KW_KIND_GPU]);
    }
    lua_settop(file->lua, 0);
}

int main(int count, char **arguments) {
    kw_text tables = {0}, lists[KW_KIND_COUNT] = {{0}};
    kw_error err = {0};
    lua_State *lua = luaL_newstate();
    if (count < 3 || !lua) {
        fprintf(stderr, "usage: make_archs OUTPUT FILE.lua ...\n");
        return 2;
    }
    kw_text_add(&tables,
                "/* Made by make_archs from rules/arch. */\n#include \"config/arch/gpu_arch.h\"\n#include \"config/arch/isa.h\"\n\n");
    for (int i = 2; i < count; i++) {
        arch_file file = {.path = arguments[i], .lua = lua};
        const char *slash = strrchr(file.path, '/'), *name = slash ? slash + 1 : file.path;
        snprintf(file.name, sizeof file.name, "%.*s", (int)strcspn(name, "."), name);
        snprintf(file.symbol, sizeof file.symbol, "%s", file.name);
        print_arch(&file, &tables, lists);
    }
    kw_text_addf(&tables, "\nconst kw_cpu_arch kw_cpu_archs[] = {\n%s    {0},\n};\n", kw_text_string(&lists[KW_KIND_CPU]));
    kw_text_addf(&tables, "\nconst kw_gpu_arch kw_gpu_archs[] = {\n%s    {0},\n};\n", kw_text_string(&lists[KW_KIND_GPU]));
    kw_status status = tables.failed || lists[KW_KIND_CPU].failed || lists[KW_KIND_GPU].failed ? kw_fail_memory(&err, "a table") : KW_OK;
    status = status ? status : kw_file_replace(arguments[1], tables.data, tables.size, 0644, &err);
    if (status) {
        fprintf(stderr, "make_archs: %s\n", err.text);
    }
    kw_text_drop(&tables);
    kw_text_drop(&lists[KW_KIND_CPU]);
    kw_text_drop(&lists[KW_KIND_GPU]);
    lua_close(lua);
    return status ? 1 : 0;
}
