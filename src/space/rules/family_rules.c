/* family_rules.c: what a family's rule file and the set say of it, and whether they want one config. The values of axes: family_axes.c. */
#include "space/rules/rules_internal.h"

#include "problem/names/names.h"

#include <string.h>

/* A family's rules while they are opened. */
typedef struct family_call {
    kw_family_rules *out;
    kw_rules *rules;
    int file_ref;
    bool present;
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
    lua_getfield(state, -1, call->out->family->name);
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
                     call->out->file);
    }
    lua_pushlstring(state, set, strlen(set) - strlen(".lua"));
    if (lua_gettable(state, -2) != LUA_TNIL) {
        kw_rules_check_member(state, call->out->file, call->out->family->name);
    }
    take_member(state, call, call->out->file);
    return 0;
}

/* The bits of a list of words, each of them one of the allowed bits. */
static uint32_t read_bits(lua_State *state, const char *file, const char *field, uint32_t allowed, int count, bool dtypes) {
    kw_rules_push_field(state, file, field, LUA_TTABLE);
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
    kw_rules_push_field(state, file, "rules", LUA_TTABLE);
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
    kw_rules_push_field(state, of->file, "family", LUA_TSTRING);
    if (strcmp(lua_tostring(state, -1), of->family->name)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: family is '%s', but the file is named %s", of->file, lua_tostring(state, -1),
                     of->family->name);
    }
    lua_pop(state, 1);
    of->ops = read_bits(state, of->file, "ops", of->family->ops, KW_OP_COUNT, false);
    of->dtypes = read_bits(state, of->file, "dtypes", of->family->dtypes, KW_DTYPE_COUNT, true);
    kw_rules_push_field(state, of->file, "axes", LUA_TFUNCTION);
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
    family_call call = {.out = out, .rules = rules};
    *present = false;
    if (!in_catalog(rules, family)) {
        return KW_OK;
    }
    kw_status status = kw_lua_run(rules->lua, find_member, &call, kw_rules_origin(rules), err);
    kw_rule_name name = {"families", family->name};
    if (status || family->kind != rules->kind || (!call.present && !kw_rule_exists(rules->folder, name))) {
        return status;
    }
    status = kw_rules_load_file(rules, name, keys, &out->file, &call.file_ref, err);
    if (!status && !call.present) {
        status = kw_lua_run(rules->lua, find_own_member, &call, kw_rules_origin(rules), err);
    }
    if (!status && call.present) {
        status = kw_lua_run(rules->lua, check_family, &call, kw_rules_origin(rules), err);
    }
    *present = !status && call.present;
    return status;
}

/* --- rules over one config --- */

/* The question whether a config is wanted. */
typedef struct config_call {
    const kw_family_rules *of;
    kw_rules *rules;
    bool wanted;
} config_call;

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
    config_call *call = lua_touserdata(state, 1);
    const kw_family_rules *of = call->of;
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->rules->view_ref);
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->rules->arch_ref);
    lua_rawgeti(state, LUA_REGISTRYINDEX, of->rules_ref);
    lua_Integer length = (lua_Integer)lua_rawlen(state, -1);
    call->wanted = true;
    for (lua_Integer i = 1; i <= length && call->wanted; i++) {
        lua_rawgeti(state, 4, i);
        lua_rawgeti(state, 5, 1);
        lua_rawgeti(state, 5, 2);
        call->wanted = call_predicate(state, of->file, lua_tostring(state, 6));
        lua_settop(state, 4);
    }
    if (call->wanted && lua_rawgeti(state, LUA_REGISTRYINDEX, of->member_ref) == LUA_TFUNCTION) {
        call->wanted = call_predicate(state, call->rules->set_file, of->family->name);
    }
    return 0;
}

kw_status kw_family_rules_accept(bool *wanted, const kw_family_rules *of, kw_rules *rules, const kw_config *config, kw_error *err) {
    config_call call = {.of = of, .rules = rules};
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
    *wanted = !status && call.wanted;
    return status;
}
