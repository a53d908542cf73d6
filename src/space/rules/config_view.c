/* config_view.c: field look-up by one hash probe: a table per family, made on first use, that maps a field's name to the axis number,
 * or for a word axis to a list of its words with the axis number at 0. */
#include "space/rules/config_view.h"

#include <string.h>

enum { FIELD_FAMILY = -1, FIELD_OP = -2, FIELD_DTYPE = -3 };

static void push_words(lua_State *state, const char *words, int axis) {
    lua_newtable(state);
    lua_pushinteger(state, axis);
    lua_rawseti(state, -2, 0);
    kw_scan scan = kw_scan_string(words);
    kw_word word;
    for (lua_Integer i = 1; kw_scan_word(&scan, &word); i++) {
        lua_pushlstring(state, word.at, word.size);
        lua_rawseti(state, -2, i);
    }
}

/* Pushes the family's table of fields. */
static void push_fields(lua_State *state, const kw_family *family) {
    if (lua_rawgetp(state, lua_upvalueindex(1), family) == LUA_TTABLE) {
        return;
    }
    lua_pop(state, 1);
    lua_createtable(state, 0, family->axis_count + 3);
    lua_pushinteger(state, FIELD_FAMILY);
    lua_setfield(state, -2, "family");
    lua_pushinteger(state, FIELD_OP);
    lua_setfield(state, -2, "op");
    lua_pushinteger(state, FIELD_DTYPE);
    lua_setfield(state, -2, "dtype");
    for (int i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        if (axis->words) {
            push_words(state, axis->words, i);
        } else {
            lua_pushinteger(state, i);
        }
        lua_setfield(state, -2, axis->name);
    }
    lua_pushvalue(state, -1);
    lua_rawsetp(state, lua_upvalueindex(1), family);
}

static bool known_elsewhere(const char *name) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        if (kw_family_axis(*family, (kw_word){name, strlen(name)}) >= 0) {
            return true;
        }
    }
    return false;
}

static int refuse_field(lua_State *state, kw_config_view *view) {
    const char *family = view->config->family->name;
    if (lua_type(state, 2) != LUA_TSTRING) {
        kw_lua_raise(state, KW_MISSING, "c is read by names, e.g. c.family");
    }
    const char *name = lua_tostring(state, 2);
    if (known_elsewhere(name)) {
        view->foreign = true;
        kw_lua_raise(state, KW_MISSING, "%s has no axis '%s', though another family has", family, name);
    }
    kw_lua_raise(state, KW_MISSING, "no family has an axis '%s'; fields are family, op, dtype and the families' axes", name);
}

static int read_config_field(lua_State *state) {
    kw_config_view *view = lua_touserdata(state, 1);
    const kw_config *config = view->config;
    push_fields(state, config->family);
    lua_pushvalue(state, 2);
    if (lua_rawget(state, -2) == LUA_TTABLE) {
        lua_rawgeti(state, -1, 0);
        lua_Integer axis = lua_tointeger(state, -1);
        lua_rawgeti(state, -2, config->axis[axis] + 1);
        return 1;
    }
    if (lua_isnil(state, -1)) {
        return refuse_field(state, view);
    }
    lua_Integer field = lua_tointeger(state, -1);
    if (field >= 0) {
        lua_pushinteger(state, config->axis[field]);
    } else {
        lua_pushstring(state, field == FIELD_FAMILY ? config->family->name
                              : field == FIELD_OP   ? kw_op_name(config->op)
                                                    : kw_dtype_name(config->dtype));
    }
    return 1;
}

static int refuse_config_write(lua_State *state) {
    kw_lua_raise(state, KW_ILLEGAL, "c cannot be changed");
}

kw_config_view *kw_config_view_push(lua_State *state) {
    kw_config_view *view = lua_newuserdatauv(state, sizeof *view, 0);
    *view = (kw_config_view){0};
    lua_createtable(state, 0, 2);
    lua_newtable(state);
    lua_pushcclosure(state, read_config_field, 1);
    lua_setfield(state, -2, "__index");
    lua_pushcfunction(state, refuse_config_write);
    lua_setfield(state, -2, "__newindex");
    lua_setmetatable(state, -2);
    return view;
}
