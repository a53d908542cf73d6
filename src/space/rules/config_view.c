/* config_view.c: field look-up by one hash probe: a table per family, made on first use, that maps a field's name to the axis number,
 * or for a word axis to a list of its words with the axis number at 0. Published fields are entries of the same table. */
#include "space/rules/config_view.h"

#include "problem/names/names.h"
#include "space/ck/fields.h"

#include <string.h>

enum { FIELD_FAMILY = -1, FIELD_OP = -2, FIELD_DTYPE = -3, FIELD_VARIANT = -4, FIELD_ARCH = -5 };

static const struct fixed_field {
    const char *name;
    int place;
} fixed_fields[] = {
    {"family", FIELD_FAMILY},  {"op", FIELD_OP},           {"dtype", FIELD_DTYPE}, {"data_type", FIELD_DTYPE},
    {"datatype", FIELD_DTYPE}, {"variant", FIELD_VARIANT}, {"arch", FIELD_ARCH},
};
enum { FIXED = sizeof fixed_fields / sizeof *fixed_fields };

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

/* A published value as Lua has it: truth values, numbers, else the word. */
static void push_published(lua_State *state, const char *text) {
    int64_t number;
    if (!strcmp(text, "true") || !strcmp(text, "false")) {
        lua_pushboolean(state, *text == 't');
    } else if (kw_word_int((kw_word){text, strlen(text)}, 0, INT32_MAX, &number)) {
        lua_pushinteger(state, number);
    } else {
        lua_pushstring(state, text);
    }
}

/* A field whose values are spelled otherwise than the axis's: the axis at 0, published values from 1 on. */
static void push_published_axis(lua_State *state, const kw_family *family, const kw_field_place *place) {
    const kw_axis *axis = &family->axes[place->axis];
    lua_newtable(state);
    lua_pushinteger(state, place->axis);
    lua_rawseti(state, -2, 0);
    for (int32_t value = kw_axis_low(axis); value <= kw_axis_high(axis); value++) {
        const char *word = kw_field_published(family, place, value);
        if (word) {
            push_published(state, word);
            lua_rawseti(state, -2, (lua_Integer)value + 1);
        }
    }
}

/* The same value for all kernels of the family: place -1 at 0, the value at 1. */
static void push_constant(lua_State *state, const char *text) {
    lua_newtable(state);
    lua_pushinteger(state, -1);
    lua_rawseti(state, -2, 0);
    push_published(state, text);
    lua_rawseti(state, -2, 1);
}

/* Into the table on top: what the published table has for the family, except what is an axis by its own name. */
static void add_published_fields(lua_State *state, const kw_family *family) {
    kw_field_place place;
    for (const kw_field *field = kw_fields; field->name; field++) {
        if (kw_family_axis(family, (kw_word){field->name, strlen(field->name)}) >= 0 || !kw_field_find(&place, family, field->name)) {
            continue;
        }
        if (place.axis < 0) {
            push_constant(state, place.field->without);
        } else if (place.field->words && !place.field->further) {
            push_published_axis(state, family, &place);
        } else if (family->axes[place.axis].words) {
            push_words(state, family->axes[place.axis].words, place.axis);
        } else {
            lua_pushinteger(state, place.axis);
        }
        lua_setfield(state, -2, field->name);
    }
    if (kw_family_ndims(family) == 1u << 2) {
        push_constant(state, "2");
        lua_setfield(state, -2, "ndim_spatial");
    }
    if (kw_family_layouts(family) == 1u << KW_CHANNELS_LAST) {
        push_constant(state, "nhwgc");
        lua_setfield(state, -2, "layout");
    }
}

/* Pushes the family's table of fields. */
static void push_fields(lua_State *state, const kw_family *family) {
    if (lua_rawgetp(state, lua_upvalueindex(1), family) == LUA_TTABLE) {
        return;
    }
    lua_pop(state, 1);
    lua_createtable(state, 0, family->axis_count + FIXED);
    for (int i = 0; i < FIXED; i++) {
        lua_pushinteger(state, fixed_fields[i].place);
        lua_setfield(state, -2, fixed_fields[i].name);
    }
    for (int i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        if (axis->words) {
            push_words(state, axis->words, i);
        } else {
            lua_pushinteger(state, i);
        }
        lua_setfield(state, -2, axis->name);
    }
    add_published_fields(state, family);
    lua_pushvalue(state, -1);
    lua_rawsetp(state, lua_upvalueindex(1), family);
}

static int refuse_field(lua_State *state, kw_config_view *view) {
    const char *family = view->config->family->name;
    if (lua_type(state, 2) != LUA_TSTRING) {
        kw_lua_raise(state, KW_MISSING, "c is read by names, e.g. c.family");
    }
    const char *name = lua_tostring(state, 2), *instead = kw_field_instead(name);
    if (instead) {
        kw_lua_raise(state, KW_MISSING, "'%s' is no field of one value; name %s", name, instead);
    }
    if (kw_field_known(name)) {
        view->foreign = true;
        kw_lua_raise(state, KW_MISSING, "%s has no axis '%s', though another family has", family, name);
    }
    char hint[KW_HINT_MAX], fixed[256] = "";
    kw_line line = {fixed, sizeof fixed, 0};
    for (size_t i = 0; i < FIXED; i++) {
        kw_line_addf(&line, " %s", fixed_fields[i].name);
    }
    kw_lua_raise(state, KW_MISSING,
                 "no family has an axis '%s'%s; fields are family, op, dtype, the families' axes and those of docs/selection/traits.md",
                 name, kw_field_hint(hint, name, fixed));
}

static int push_fixed_field(lua_State *state, kw_config_view *view, lua_Integer field) {
    const kw_config *config = view->config;
    if (field == FIELD_ARCH && !view->arch) {
        view->foreign = true;
        kw_lua_raise(state, KW_MISSING, "no architecture is given that c.arch could be");
    }
    lua_pushstring(state, field == FIELD_FAMILY    ? config->family->name
                          : field == FIELD_OP      ? kw_op_name(config->op)
                          : field == FIELD_VARIANT ? kw_variant_name(config->op)
                          : field == FIELD_ARCH    ? view->arch
                                                   : kw_dtype_name(config->dtype));
    return 1;
}

static int read_config_field(lua_State *state) {
    kw_config_view *view = lua_touserdata(state, 1);
    const kw_config *config = view->config;
    push_fields(state, config->family);
    lua_pushvalue(state, 2);
    if (lua_rawget(state, -2) == LUA_TTABLE) {
        lua_rawgeti(state, -1, 0);
        lua_Integer axis = lua_tointeger(state, -1);
        lua_rawgeti(state, -2, axis < 0 ? 1 : config->axis[axis] + 1);
        return 1;
    }
    if (lua_isnil(state, -1)) {
        return refuse_field(state, view);
    }
    lua_Integer field = lua_tointeger(state, -1);
    if (field < 0) {
        return push_fixed_field(state, view, field);
    }
    lua_pushinteger(state, config->axis[field]);
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
