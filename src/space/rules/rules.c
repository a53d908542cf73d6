/* rules.c: reading rule files. Each file is a chunk that returns one table; what it may contain is checked key by key, so that a
 * misspelt key is an error and not a rule that never runs. */
#include "space/rules/rules_internal.h"

#include "space/rules/rule_files.h"

#include <stdio.h>
#include <string.h>

/* What traits and configs with gaps choose from where no set is named. */
#define KW_TRAIT_SET "traits"

enum { MEMORY_LIMIT = 64 << 20, VALUES_MAX = 4096 };

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

/* Runs a rule file; *ref gets its table, *file its name for messages. */
static kw_status load_file(kw_rules *rules, kw_rule_name name, const char *const *keys, const char **file, int *ref, kw_error *err) {
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

/* Pushes the field of the table at the top; raises unless it has the type. */
static void push_field(lua_State *state, const char *file, const char *field, int type) {
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
        push_field(state, rules->arch_file, *table, LUA_TTABLE);
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
    push_field(state, file, "backend", LUA_TSTRING);
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
        push_field(state, file, "isa", LUA_TTABLE);
        lua_pop(state, 1);
        push_field(state, file, "math", LUA_TTABLE);
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
        push_field(state, check->rules->set_file, "families", LUA_TTABLE);
        return;
    }
    lua_newtable(state);
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        lua_pushboolean(state, true);
        lua_setfield(state, -2, (*family)->name);
    }
}

/* What a set takes of a family, on the top of the stack. */
static void check_member(lua_State *state, const char *file, const char *name) {
    if (!lua_isfunction(state, -1) && !lua_istable(state, -1) && !(lua_isboolean(state, -1) && lua_toboolean(state, -1))) {
        kw_lua_raise(state, KW_MALFORMED, "%s: family %s must be true, a function of c and arch, or a table that gives points", file, name);
    }
}

static int check_set(lua_State *state) {
    set_check *check = lua_touserdata(state, 1);
    kw_rules *rules = check->rules;
    lua_rawgeti(state, LUA_REGISTRYINDEX, rules->set_ref);
    push_field(state, rules->set_file, "about", LUA_TSTRING);
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
        check_member(state, rules->set_file, key);
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
    kw_status status = load_file(rules, (kw_rule_name){"sets", set}, keys, &rules->set_file, &rules->set_ref, err);
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
    static const char *const arch_keys[] = {"backend",  "isa",   "math",  "lanes",      "registers", "about", "compile",
                                            "features", "waves", "tiles", "preshuffle", "typical",   NULL};
    *rules = (kw_rules){.folder = choice->folder, .builder_folder = choice->builder_folder};
    kw_status status = kw_lua_open(&rules->lua, MEMORY_LIMIT, err);
    status = status ? status : kw_rules_define(rules, err);
    if (!status) {
        status = load_file(rules, (kw_rule_name){"arch", choice->arch}, arch_keys, &rules->arch_file, &rules->arch_ref, err);
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

/* --- a family's rules --- */

typedef struct family_call {
    const kw_family_rules *of;
    kw_family_rules *out; /* of, while it is being opened */
    kw_rules *rules;
    int file_ref;
    bool present;
    /* for the values of axes */
    kw_axis_values *values;
    kw_op op;
    kw_dtype dtype;
} family_call;

/* keeps = { "pipe" } of the member on top: axes on which its points have the last word. */
static void read_keeps(lua_State *state, kw_family_rules *out, const char *file) {
    out->keeps = UINT32_MAX;
    if (lua_getfield(state, -1, "keeps") == LUA_TTABLE) {
        out->keeps = 0;
        for (lua_Integer i = 1; lua_rawgeti(state, -1, i) != LUA_TNIL; i++) {
            const char *name = lua_tostring(state, -1);
            int axis = name ? kw_family_axis(out->family, (kw_word){name, strlen(name)}) : -1;
            if (axis < 0) {
                kw_lua_raise(state, KW_MISSING, "%s: keeps: %s has no axis '%s'", file, out->family->name,
                             name ? name : luaL_typename(state, -1));
            }
            out->keeps |= 1u << axis;
            lua_pop(state, 1);
        }
        lua_pop(state, 1);
    }
    lua_pop(state, 1);
}

/* A member that gives points: { points = function(arch, op, dtype, legal) ... end } or { builder = "SUBSET" }. */
static void check_points(lua_State *state, kw_family_rules *out, kw_rules *rules, const char *file) {
    out->lists_points = true;
    read_keeps(state, out, file);
    if (lua_getfield(state, -1, "builder") == LUA_TSTRING) {
        out->builder = kw_arena_format(&rules->arena, "%s", lua_tostring(state, -1));
        if (!out->builder) {
            kw_lua_raise(state, KW_NO_MEMORY, "out of memory for a name");
        }
    } else if (lua_getfield(state, -2, "points") != LUA_TFUNCTION) {
        kw_lua_raise(state, KW_MALFORMED, "%s: %s: a table gives 'points', a function of arch, op, dtype and legal, or 'builder', a subset",
                     file, out->family->name);
    }
}

/* The member on the top of the stack, which file gives; nil: none. */
static void take_member(lua_State *state, family_call *call, const char *file) {
    int top = lua_gettop(state);
    call->present = !lua_isnil(state, -1);
    call->out->takes_all = !lua_isfunction(state, -1);
    if (lua_istable(state, -1)) {
        check_points(state, call->out, call->rules, file);
        lua_settop(state, top);
    }
    if (call->present) {
        call->out->member_ref = luaL_ref(state, LUA_REGISTRYINDEX);
    }
}

/* What the set's file takes of the family. */
static int find_member(lua_State *state) {
    family_call *call = lua_touserdata(state, 1);
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->rules->set_ref);
    lua_getfield(state, -1, call->of->family->name);
    take_member(state, call, call->rules->set_file);
    return 0;
}

/* What the family's own file offers to the set, whose file does not name the family. */
static int find_own_member(lua_State *state) {
    family_call *call = lua_touserdata(state, 1);
    const char *set = strchr(call->rules->set_file, '/') + 1;
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->file_ref);
    if (lua_getfield(state, -1, "sets") == LUA_TNIL) {
        return 0;
    }
    if (!lua_istable(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: 'sets' must be a table: what each set takes where its own file does not name the family",
                     call->of->file);
    }
    lua_pushlstring(state, set, strlen(set) - strlen(".lua"));
    if (lua_gettable(state, -2) != LUA_TNIL) {
        check_member(state, call->of->file, call->of->family->name);
    }
    take_member(state, call, call->of->file);
    return 0;
}

/* The bits of a list of words, each of them one of the allowed bits. */
static uint32_t read_bits(lua_State *state, const char *file, const char *field, uint32_t allowed, int count, bool dtypes) {
    push_field(state, file, field, LUA_TTABLE);
    uint32_t bits = 0;
    lua_Integer length = (lua_Integer)lua_rawlen(state, -1);
    for (lua_Integer i = 1; i <= length; i++) {
        lua_rawgeti(state, -1, i);
        const char *word = lua_type(state, -1) == LUA_TSTRING ? lua_tostring(state, -1) : luaL_typename(state, -1);
        int bit = 0;
        while (bit < count && (!(allowed >> bit & 1) || strcmp(word, dtypes ? kw_dtype_name((kw_dtype)bit) : kw_op_name((kw_op)bit)))) {
            bit++;
        }
        if (bit == count) {
            kw_lua_raise(state, KW_MISSING, "%s: %s: the family has no '%s'", file, field, word);
        }
        bits |= 1u << bit;
        lua_pop(state, 1);
    }
    lua_pop(state, 1);
    return bits;
}

static void check_rules(lua_State *state, const char *file) {
    push_field(state, file, "rules", LUA_TTABLE);
    lua_Integer length = (lua_Integer)lua_rawlen(state, -1);
    for (lua_Integer i = 1; i <= length; i++) {
        bool good = lua_rawgeti(state, -1, i) == LUA_TTABLE && lua_rawlen(state, -1) == 2;
        if (good) {
            good = lua_rawgeti(state, -1, 1) == LUA_TSTRING;
            good = lua_rawgeti(state, -2, 2) == LUA_TFUNCTION && good;
            lua_pop(state, 2);
        }
        if (!good) {
            kw_lua_raise(state, KW_MALFORMED, "%s: rule %d must be {\"reason\", function(c, arch) ... end}", file, (int)i);
        }
        lua_pop(state, 1);
    }
}

static int check_family(lua_State *state) {
    family_call *call = lua_touserdata(state, 1);
    kw_family_rules *of = call->out;
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->file_ref);
    push_field(state, of->file, "family", LUA_TSTRING);
    if (strcmp(lua_tostring(state, -1), of->family->name)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: family is '%s', but the file is named %s", of->file, lua_tostring(state, -1),
                     of->family->name);
    }
    lua_pop(state, 1);
    of->ops = read_bits(state, of->file, "ops", of->family->ops, KW_OP_COUNT, false);
    of->dtypes = read_bits(state, of->file, "dtypes", of->family->dtypes, KW_DTYPE_COUNT, true);
    push_field(state, of->file, "axes", LUA_TFUNCTION);
    of->axes_ref = luaL_ref(state, LUA_REGISTRYINDEX);
    check_rules(state, of->file);
    of->takes_all = of->takes_all && !lua_rawlen(state, -1);
    of->rules_ref = luaL_ref(state, LUA_REGISTRYINDEX);
    int type = lua_getfield(state, -1, "defaults");
    if (type != LUA_TTABLE && (type != LUA_TNIL || of->lists_points)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: 'defaults' must be a table with a value for each axis, for sets that list points", of->file);
    }
    of->defaults_ref = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
}

/* Whether the set's catalog, where there is one, has kernels of the family. */
static bool in_catalog(const kw_rules *rules, const kw_family *family) {
    for (size_t i = 0; i < rules->catalog.count; i++) {
        if (rules->catalog.configs[i].family == family) {
            return true;
        }
    }
    return !rules->has_catalog;
}

kw_status kw_family_rules_open(kw_family_rules *out, kw_rules *rules, const kw_family *family, bool *present, kw_error *err) {
    static const char *const keys[] = {"family", "ops", "dtypes", "axes", "rules", "about", "defaults", "sets", NULL};
    *out = (kw_family_rules){.family = family};
    family_call call = {.of = out, .out = out, .rules = rules};
    *present = false;
    if (!in_catalog(rules, family)) {
        return KW_OK;
    }
    kw_status status = kw_lua_run(rules->lua, find_member, &call, kw_rules_origin(rules), err);
    kw_rule_name name = {"families", family->name};
    if (status || family->kind != rules->kind || (!call.present && !kw_rule_exists(rules->folder, name))) {
        return status;
    }
    status = load_file(rules, name, keys, &out->file, &call.file_ref, err);
    if (!status && !call.present) {
        status = kw_lua_run(rules->lua, find_own_member, &call, kw_rules_origin(rules), err);
    }
    if (!status && call.present) {
        status = kw_lua_run(rules->lua, check_family, &call, kw_rules_origin(rules), err);
    }
    *present = !status && call.present;
    return status;
}

/* --- the values of axes --- */

int32_t kw_rule_axis_value(lua_State *state, const char *file, const kw_axis *axis) {
    if (axis->words) {
        size_t size = 0;
        const char *text = lua_type(state, -1) == LUA_TSTRING ? lua_tolstring(state, -1, &size) : luaL_typename(state, -1);
        kw_scan scan = kw_scan_string(axis->words);
        kw_word word;
        for (int32_t i = 0; kw_scan_word(&scan, &word); i++) {
            if (word.size == size && !memcmp(word.at, text, size)) {
                return i;
            }
        }
        kw_lua_raise(state, KW_ILLEGAL, "%s: axis %s has no value '%s'; its values are: %s", file, axis->name, text, axis->words);
    }
    int whole = 0;
    lua_Integer value = lua_type(state, -1) == LUA_TNUMBER ? lua_tointegerx(state, -1, &whole) : 0;
    if (!whole) {
        kw_lua_raise(state, KW_ILLEGAL, "%s: axis %s: a value is a %s, not a whole number", file, axis->name, luaL_typename(state, -1));
    }
    if (value < axis->low || value > axis->high) {
        kw_lua_raise(state, KW_ILLEGAL, "%s: axis %s: %lld is outside %d..%d", file, axis->name, (long long)value, axis->low, axis->high);
    }
    return (int32_t)value;
}

/* The list on top. */
static void read_family_axis(lua_State *state, const family_call *call, int number) {
    const char *file = call->of->file;
    const kw_axis *axis = &call->of->family->axes[number];
    if (!lua_istable(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: axis %s must be a list such as {1, 2}, not %s; axes() names every axis of the family", file,
                     axis->name, luaL_typename(state, -1));
    }
    size_t length = (size_t)luaL_len(state, -1);
    if (length > VALUES_MAX) {
        kw_lua_raise(state, KW_ILLEGAL, "%s: axis %s has %zu values; at most %d are taken", file, axis->name, length, VALUES_MAX);
    }
    int32_t *values = kw_arena_array(&call->rules->arena, length ? length : 1, sizeof *values);
    if (!values) {
        kw_lua_raise(state, KW_NO_MEMORY, "out of memory for the values of an axis");
    }
    for (size_t i = 0; i < length; i++) {
        lua_geti(state, -1, (lua_Integer)i + 1);
        values[i] = kw_rule_axis_value(state, file, axis);
        for (size_t j = 0; j < i; j++) {
            if (values[j] == values[i]) {
                kw_lua_raise(state, KW_ILLEGAL, "%s: axis %s lists %s twice", file, axis->name, lua_tostring(state, -1));
            }
        }
        lua_pop(state, 1);
    }
    call->values->values[number] = values;
    call->values->count[number] = (int32_t)length;
}

/* words(axis): the words of a word axis of the family (upvalue 1), all of them and in C's order. */
static int list_axis_words(lua_State *state) {
    const family_call *call = lua_touserdata(state, lua_upvalueindex(1));
    const kw_family *family = call->of->family;
    size_t size;
    const char *name = luaL_checklstring(state, 1, &size);
    int axis = kw_family_axis(family, (kw_word){name, size});
    if (axis < 0 || !family->axes[axis].words) {
        kw_lua_raise(state, KW_MISSING, "%s: words(): %s has no axis '%s' whose values are words", call->of->file, family->name, name);
    }
    kw_scan scan = kw_scan_string(family->axes[axis].words);
    kw_word word;
    lua_newtable(state);
    for (lua_Integer i = 1; kw_scan_word(&scan, &word); i++) {
        lua_pushlstring(state, word.at, word.size);
        lua_rawseti(state, -2, i);
    }
    return 1;
}

static int read_axis_values(lua_State *state) {
    family_call *call = lua_touserdata(state, 1);
    const kw_family *family = call->of->family;
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->of->axes_ref);
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->rules->arch_ref);
    lua_pushstring(state, kw_op_name(call->op));
    lua_pushstring(state, kw_dtype_name(call->dtype));
    lua_pushlightuserdata(state, call);
    lua_pushcclosure(state, list_axis_words, 1);
    lua_call(state, 4, 1);
    if (!lua_istable(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: axes() must return a table, not a %s", call->of->file, luaL_typename(state, -1));
    }
    for (int i = 0; i < family->axis_count; i++) {
        lua_getfield(state, -1, family->axes[i].name);
        read_family_axis(state, call, i);
        lua_pop(state, 1);
    }
    lua_pushnil(state);
    while (lua_next(state, -2)) {
        size_t size = 0;
        const char *key = lua_type(state, -2) == LUA_TSTRING ? lua_tolstring(state, -2, &size) : NULL;
        if (!key || kw_family_axis(family, (kw_word){key, size}) < 0) {
            kw_lua_raise(state, KW_MISSING, "%s: the family has no axis '%s'", call->of->file, key ? key : luaL_typename(state, -2));
        }
        lua_pop(state, 1);
    }
    return 0;
}

kw_status kw_family_rules_values(kw_axis_values *out, const kw_family_rules *of, kw_rules *rules, kw_op op, kw_dtype dtype, kw_error *err) {
    family_call call = {.of = of, .rules = rules, .values = out, .op = op, .dtype = dtype};
    *out = (kw_axis_values){0};
    kw_lua_set_step_limit(rules->lua, KW_RULE_FILE_STEPS);
    return kw_lua_run(rules->lua, read_axis_values, &call, kw_rules_origin(rules), err);
}

/* --- rules over one config --- */

/* Calls the predicate on top with c and arch (at 2 and 3) and replaces it by its answer. */
static bool call_predicate(lua_State *state, const char *file, const char *what) {
    lua_pushvalue(state, 2);
    lua_pushvalue(state, 3);
    lua_call(state, 2, 1);
    if (!lua_isboolean(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: %s yields a %s, not true or false", file, what, luaL_typename(state, -1));
    }
    bool answer = lua_toboolean(state, -1);
    lua_pop(state, 1);
    return answer;
}

static int eval_predicate(lua_State *state) {
    family_call *call = lua_touserdata(state, 1);
    const kw_family_rules *of = call->of;
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->rules->view_ref);
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->rules->arch_ref);
    lua_rawgeti(state, LUA_REGISTRYINDEX, of->rules_ref);
    lua_Integer length = (lua_Integer)lua_rawlen(state, -1);
    call->present = true;
    for (lua_Integer i = 1; i <= length && call->present; i++) {
        lua_rawgeti(state, 4, i);
        lua_rawgeti(state, 5, 1);
        lua_rawgeti(state, 5, 2);
        call->present = call_predicate(state, of->file, lua_tostring(state, 6));
        lua_settop(state, 4);
    }
    if (call->present && lua_rawgeti(state, LUA_REGISTRYINDEX, of->member_ref) == LUA_TFUNCTION) {
        call->present = call_predicate(state, call->rules->set_file, of->family->name);
    }
    return 0;
}

kw_status kw_family_rules_accept(bool *wanted, const kw_family_rules *of, kw_rules *rules, const kw_config *config, kw_error *err) {
    family_call call = {.of = of, .rules = rules};
    *wanted = false;
    if (rules->has_catalog && !kw_catalog_has(&rules->catalog, config)) {
        return KW_OK;
    }
    if (of->takes_all) {
        *wanted = true;
        return KW_OK;
    }
    rules->view->config = config;
    kw_lua_set_step_limit(rules->lua, KW_RULE_CALL_STEPS);
    kw_status status = kw_lua_run(rules->lua, eval_predicate, &call, kw_rules_origin(rules), err);
    *wanted = !status && call.present;
    return status;
}

kw_status kw_rules_legal(const kw_rules *rules, const kw_config *config, kw_error *err) {
    kw_status status = kw_config_check(config, err);
    return status || !rules->gpu ? status : kw_config_runs(config, &rules->gpu->typical, err);
}
