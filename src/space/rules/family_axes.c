/* family_axes.c: the values that a family's rule file gives its axes. Every axis is named, every value is one that C knows, each stands once. */
#include "space/rules/rules_internal.h"

#include "problem/names/names.h"

#include <string.h>

enum { VALUES_MAX = 4096 };

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

typedef struct axis_call {
    const kw_family_rules *of;
    kw_rules *rules;
    kw_axis_values *values;
    kw_op op;
    kw_dtype dtype;
} axis_call;

/* The list on top. */
static void read_family_axis(lua_State *state, const axis_call *call, int number) {
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
    const axis_call *call = lua_touserdata(state, lua_upvalueindex(1));
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
    axis_call *call = lua_touserdata(state, 1);
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
    axis_call call = {.of = of, .rules = rules, .values = out, .op = op, .dtype = dtype};
    *out = (kw_axis_values){0};
    kw_lua_set_step_limit(rules->lua, KW_RULE_FILE_STEPS);
    return kw_lua_run(rules->lua, read_axis_values, &call, kw_rules_origin(rules), err);
}
