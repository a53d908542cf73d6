/* rules.c: opening the rules of an architecture and a set. Each rule file is a chunk that returns one table; what it may contain is checked
 * key by key, so that a misspelt key is an error and not a rule that never runs. family_rules.c reads those of families. */
#include "space/rules/rules_internal.h"

#include <stdio.h>
#include <string.h>

/* What traits and configs with gaps choose from where no set is named. */
#define KW_TRAIT_SET "traits"

enum { MEMORY_LIMIT = 64 << 20 };

/* --- a file's table --- */

typedef struct file_load {
    const kw_rule_text *text;
    const char *const *keys;
    int *ref;
} file_load;

static bool is_listed_word(const char *const *names, const char *name) {
    for (; *names; names++) {
        if (!strcmp(*names, name)) {
            return true;
        }
    }
    return false;
}

static int load_table(lua_State *state) {
    const file_load *load = lua_touserdata(state, 1);
    lua_pushfstring(state, "=%s", load->text->file);
    kw_lua_compile(state, lua_tostring(state, -1), load->text->text, load->text->size);
    lua_call(state, 0, 1);
    if (!lua_istable(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: must return a table, not a %s", load->text->file, luaL_typename(state, -1));
    }
    lua_pushnil(state);
    while (lua_next(state, -2)) {
        lua_pop(state, 1);
        const char *key = lua_type(state, -1) == LUA_TSTRING ? lua_tostring(state, -1) : luaL_typename(state, -1);
        if (!is_listed_word(load->keys, key)) {
            kw_lua_raise(state, KW_MISSING, "%s: unknown key '%s'", load->text->file, key);
        }
    }
    *load->ref = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
}

kw_status kw_rules_load_file(kw_rules *rules, kw_rule_name name, const char *const *keys, const char **file, int *ref, kw_error *err) {
    kw_rule_text text;
    kw_status status = kw_rule_file(&rules->arena, rules->folder, name, &text, err);
    if (status) {
        return status;
    }
    *file = text.file;
    kw_lua_set_step_limit(rules->lua, KW_RULE_FILE_STEPS);
    file_load load = {.text = &text, .keys = keys, .ref = ref};
    return kw_lua_run(rules->lua, load_table, &load, kw_rules_origin(rules), err);
}

void kw_rules_push_field(lua_State *state, const char *file, const char *field, int type) {
    if (lua_getfield(state, -1, field) != type) {
        kw_lua_raise(state, KW_MALFORMED, "%s: '%s' must be a %s, not a %s", file, field, lua_typename(state, type),
                     luaL_typename(state, -1));
    }
}

/* --- architecture and set --- */

/* A GPU's facts were made into a table when the library was built: C judges configs by them, also where there is no interpreter. */
static void check_gpu(lua_State *state, kw_rules *rules, const char *name) {
    rules->gpu = kw_gpu_arch_find(name);
    if (!rules->gpu) {
        kw_lua_raise(state, KW_MISSING, "%s: the library was built without this GPU; name it in src/config/CMakeLists.txt",
                     rules->arch_file);
    }
    static const char *const tables[] = {"features", "waves", "tiles", "preshuffle", "typical", NULL};
    for (const char *const *table = tables; *table; table++) {
        kw_rules_push_field(state, rules->arch_file, *table, LUA_TTABLE);
        lua_pop(state, 1);
    }
}

/* An architecture is of hardware: a backend that only plays it is none of its own. */
static void raise_unknown_backend(lua_State *state, const char *file, const char *backend) {
    char known[128];
    kw_line line = {known, sizeof known, 0};
    for (int id = 0; id < KW_BACKEND_COUNT; id++) {
        if (!kw_backends[id].emulated) {
            kw_line_addf(&line, " %s", kw_backends[id].name);
        }
    }
    kw_lua_raise(state, KW_MISSING, "%s: backend '%s' is not known; known:%s", file, backend, known);
}

static int check_arch_table(lua_State *state) {
    kw_rules *rules = lua_touserdata(state, 1);
    const char *file = rules->arch_file, *name = strchr(file, '/') + 1;
    lua_rawgeti(state, LUA_REGISTRYINDEX, rules->arch_ref);
    lua_pushlstring(state, name, strlen(name) - strlen(".lua"));
    name = lua_tostring(state, -1);
    lua_setfield(state, -2, "name"); /* the table keeps it */
    kw_rules_push_field(state, file, "backend", LUA_TSTRING);
    const char *backend = lua_tostring(state, -1);
    lua_pop(state, 1);
    kw_backend_id id;
    if (!kw_backend_id_of_device(&id, backend) || kw_backends[id].emulated) {
        raise_unknown_backend(state, file, backend);
    }
    rules->kind = kw_backends[id].kind;
    if (rules->kind == KW_KIND_GPU) {
        check_gpu(state, rules, name);
    } else {
        kw_rules_push_field(state, file, "isa", LUA_TTABLE);
        lua_pop(state, 1);
        kw_rules_push_field(state, file, "math", LUA_TTABLE);
        lua_pop(state, 1);
    }
    kw_lua_seal(state); /* a predicate that changed it would change what the next one sees */
    lua_rawseti(state, LUA_REGISTRYINDEX, rules->arch_ref);
    return 0;
}

/* The set's catalog is copied, so that it can be read outside of Lua. */
typedef struct set_check {
    kw_rules *rules;
    char *catalog; /* NULL: it has none */
    size_t catalog_size;
} set_check;

static void check_catalog(lua_State *state, set_check *check) {
    const char *file = check->rules->set_file;
    if (lua_getfield(state, -1, "catalog") != LUA_TNIL) {
        size_t size = 0;
        const char *text = lua_type(state, -1) == LUA_TSTRING ? lua_tolstring(state, -1, &size) : NULL;
        if (!text) {
            kw_lua_raise(state, KW_MALFORMED, "%s: 'catalog' must be a string with one config a line, not a %s", file,
                         luaL_typename(state, -1));
        }
        check->catalog = kw_arena_copy(&check->rules->arena, text, size);
        check->catalog_size = size;
        if (!check->catalog) {
            kw_lua_raise(state, KW_NO_MEMORY, "out of memory for a catalog");
        }
    }
    lua_pop(state, 1);
}

/* Pushes the table of families; a set with a catalog may leave it out, then the catalog alone decides. */
static void push_families(lua_State *state, const set_check *check) {
    if (!check->catalog || lua_getfield(state, -1, "families") != LUA_TNIL) {
        lua_settop(state, 2);
        kw_rules_push_field(state, check->rules->set_file, "families", LUA_TTABLE);
        return;
    }
    lua_newtable(state);
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        lua_pushboolean(state, true);
        lua_setfield(state, -2, (*family)->name);
    }
}

void kw_rules_check_member(lua_State *state, const char *file, const char *name) {
    if (!lua_isfunction(state, -1) && !lua_istable(state, -1) && !(lua_isboolean(state, -1) && lua_toboolean(state, -1))) {
        kw_lua_raise(state, KW_MALFORMED, "%s: family %s must be true, a function of c and arch, or a table that gives points", file, name);
    }
}

static int check_set(lua_State *state) {
    set_check *check = lua_touserdata(state, 1);
    kw_rules *rules = check->rules;
    lua_rawgeti(state, LUA_REGISTRYINDEX, rules->set_ref);
    kw_rules_push_field(state, rules->set_file, "about", LUA_TSTRING);
    lua_pop(state, 1);
    check_catalog(state, check);
    push_families(state, check);
    lua_pushnil(state);
    while (lua_next(state, -2)) {
        size_t size = 0;
        const char *key = lua_type(state, -2) == LUA_TSTRING ? lua_tolstring(state, -2, &size) : NULL;
        if (!key || !kw_family_find((kw_word){key, size})) {
            kw_lua_raise(state, KW_MISSING, "%s: no family is named '%s'", rules->set_file, key ? key : luaL_typename(state, -2));
        }
        kw_rules_check_member(state, rules->set_file, key);
        lua_pop(state, 1);
    }
    /* From here on only the families are asked for. */
    lua_rawseti(state, LUA_REGISTRYINDEX, rules->set_ref);
    rules->view = kw_config_view_push(state);
    rules->view_ref = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
}

static kw_status open_rule_set(kw_rules *rules, const char *set, kw_error *err) {
    static const char *const keys[] = {"about", "families", "catalog", NULL};
    set_check check = {.rules = rules};
    kw_status status = kw_rules_load_file(rules, (kw_rule_name){"sets", set}, keys, &rules->set_file, &rules->set_ref, err);
    status = status ? status : kw_lua_run(rules->lua, check_set, &check, kw_rules_origin(rules), err);
    if (!status && check.catalog) {
        const char *name = kw_arena_format(&rules->arena, "%s: %s: catalog", kw_rules_origin(rules), rules->set_file);
        rules->has_catalog = true;
        status = kw_catalog_read(&rules->catalog, name ? name : rules->set_file, check.catalog, check.catalog_size, err);
    }
    return status;
}

kw_rules_options kw_rules_options_of(const kw_space_options *options) {
    const char *built_for = *KW_BUILDER_CONF ? KW_BUILDER_CONF : NULL;
    return (kw_rules_options){.folder = kw_rule_folder(options->rules_dir),
                              .arch = options->arch,
                              .set = options->set                         ? options->set
                                     : options->traits || options->config ? KW_TRAIT_SET
                                                                          : KW_RULE_SET,
                              .builder_folder = options->builder_conf ? options->builder_conf : built_for};
}

kw_status kw_rules_open(kw_rules *rules, const kw_rules_options *choice, kw_error *err) {
    static const char *const arch_keys[] = {"backend", "isa",      "narrow", "math",  "lanes",      "registers", "about",
                                            "compile", "features", "waves",  "tiles", "preshuffle", "typical",   NULL};
    *rules = (kw_rules){.folder = choice->folder, .builder_folder = choice->builder_folder};
    kw_status status = kw_lua_open(&rules->lua, MEMORY_LIMIT, err);
    status = status ? status : kw_rules_define(rules, err);
    if (!status) {
        status = kw_rules_load_file(rules, (kw_rule_name){"arch", choice->arch}, arch_keys, &rules->arch_file, &rules->arch_ref, err);
    }
    if (!status) {
        status = kw_lua_run(rules->lua, check_arch_table, rules, kw_rules_origin(rules), err);
    }
    if (!status) {
        status = open_rule_set(rules, choice->set, err);
    }
    if (status) {
        kw_rules_close(rules);
    }
    return status;
}

void kw_rules_close(kw_rules *rules) {
    kw_lua_close(&rules->lua);
    kw_catalog_drop(&rules->catalog);
    kw_arena_drop(&rules->arena);
    *rules = (kw_rules){0};
}

kw_status kw_rules_legal(const kw_rules *rules, const kw_config *config, kw_error *err) {
    kw_status status = kw_config_check(config, err);
    return status || !rules->gpu ? status : kw_config_runs(config, &rules->gpu->typical, err);
}
