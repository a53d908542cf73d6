/* rule_tables.c: functions that rule files may call besides Lua's own. include "tables/NAME" gives what rules/tables/NAME.lua returns,
 * the same each time, so that sets share lists; numbers "16x16x32" gives the whole numbers in a text, so that lists can be written to be
 * read. */
#include "space/rules/rules_internal.h"

#include "space/rules/rule_files.h"

#include <string.h>

enum { NUMBERS_MAX = 32 };

static const char folder[] = "tables/";

/* Runs the file and leaves its value on top. */
static void run_table(lua_State *state, kw_rules *rules, const char *name) {
    kw_rule_text text;
    kw_error err;
    kw_status status = kw_rule_file(&rules->arena, rules->folder, (kw_rule_name){"tables", name}, &text, &err);
    if (status) {
        kw_lua_raise(state, status, "include: %s", err.text);
    }
    lua_pushfstring(state, "=%s", text.file);
    kw_lua_compile(state, lua_tostring(state, -1), text.text, text.size);
    lua_remove(state, -2);
    lua_call(state, 0, 1);
    if (lua_isnil(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: must return a value", text.file);
    }
}

static int lua_include(lua_State *state) {
    kw_rules *rules = lua_touserdata(state, lua_upvalueindex(1));
    const char *path = luaL_checkstring(state, 1);
    if (strncmp(path, folder, sizeof folder - 1)) {
        kw_lua_raise(state, KW_ILLEGAL, "include: '%s' does not begin with tables/", path);
    }
    lua_rawgeti(state, LUA_REGISTRYINDEX, rules->tables_ref);
    int type = lua_getfield(state, -1, path);
    if (type == LUA_TBOOLEAN) {
        kw_lua_raise(state, KW_ILLEGAL, "include: %s includes itself", path);
    }
    if (type == LUA_TNIL) {
        lua_pop(state, 1);
        lua_pushboolean(state, true); /* under way */
        lua_setfield(state, -2, path);
        run_table(state, rules, path + sizeof folder - 1);
        lua_pushvalue(state, -1);
        lua_setfield(state, -3, path);
    }
    return 1;
}

static int lua_numbers(lua_State *state) {
    const char *text = luaL_checkstring(state, 1);
    int count = 0;
    while (*(text += strcspn(text, "0123456789"))) {
        lua_Integer value = 0;
        for (; *text >= '0' && *text <= '9'; text++) {
            value = value * 10 + (*text - '0');
            if (value > INT32_MAX) {
                kw_lua_raise(state, KW_ILLEGAL, "numbers: '%s' has a number beyond %d", lua_tostring(state, 1), INT32_MAX);
            }
        }
        if (++count > NUMBERS_MAX) {
            kw_lua_raise(state, KW_ILLEGAL, "numbers: '%.60s' has more than %d numbers", lua_tostring(state, 1), NUMBERS_MAX);
        }
        luaL_checkstack(state, 1, "numbers");
        lua_pushinteger(state, value);
    }
    return count;
}

static int make_list_of_tables(lua_State *state) {
    kw_rules *rules = lua_touserdata(state, 1);
    lua_newtable(state);
    rules->tables_ref = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
}

kw_status kw_rules_define(kw_rules *rules, kw_error *err) {
    kw_lua_set_step_limit(rules->lua, KW_RULE_CALL_STEPS);
    kw_status status = kw_lua_run(rules->lua, make_list_of_tables, rules, kw_rules_origin(rules), err);
    status = status ? status : kw_lua_define(rules->lua, "include", lua_include, rules, err);
    return status ? status : kw_lua_define(rules->lua, "numbers", lua_numbers, rules, err);
}
