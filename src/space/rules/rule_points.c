/* rule_points.c: sets that give configs one by one. A point is a table with axes by name; an axis that it does not name has the value of
 * the family's `defaults`; "*" or -1 stands for every value that the family's axes() gives. What C refuses is left out, as it is from a
 * product of axes, so that one list serves architectures that allow different parts of it.
 *
 * Lists have thousands of points of twenty fields, so names and words are looked up in Lua tables made once a call. */
#include "space/rules/rules_internal.h"

#include "space/ck/builder_conf.h"

#include <string.h>

enum { EXPANDED_MAX = 4000000, EVERY = INT32_MIN };

typedef struct point_call {
    const kw_family_rules *of;
    kw_rules *rules;
    kw_catalog *out;
    const kw_axis_values *values; /* for "*" */
    const kw_axis_choice *choice; /* NULL: none */
    uint32_t named, chosen;       /* axes that the choice names; of these, whose values take the place of the points' own */
    int64_t tried;                /* configs made of points so far */
    kw_config base;               /* family, op, dtype and the defaults */
} point_call;

/* Places on the stack of the protected call: its argument, names of axes, words by axis. */
enum { AT_CALL = 1, AT_NAMES = 2, AT_WORDS = 3 };

static void push_names(lua_State *state, const kw_family *family) {
    lua_createtable(state, 0, family->axis_count);
    lua_createtable(state, family->axis_count, 0);
    for (int i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        lua_pushinteger(state, i);
        lua_setfield(state, AT_NAMES, axis->name);
        if (axis->words) {
            lua_newtable(state);
            kw_scan scan = kw_scan_string(axis->words);
            kw_word word;
            for (int32_t j = 0; kw_scan_word(&scan, &word); j++) {
                lua_pushlstring(state, word.at, word.size);
                lua_pushinteger(state, j);
                lua_rawset(state, -3);
            }
            lua_rawseti(state, AT_WORDS, i + 1);
        }
    }
}

/* The value on top, which may be "*" or -1. */
static int32_t point_value(lua_State *state, const point_call *call, int axis) {
    if (lua_type(state, -1) == LUA_TSTRING) {
        const char *text = lua_tostring(state, -1);
        if (!strcmp(text, "*")) {
            return EVERY;
        }
        if (lua_rawgeti(state, AT_WORDS, axis + 1) == LUA_TTABLE) {
            lua_pushvalue(state, -2);
            if (lua_rawget(state, -2) == LUA_TNUMBER) {
                int32_t value = (int32_t)lua_tointeger(state, -1);
                lua_pop(state, 2);
                return value;
            }
            lua_pop(state, 1);
        }
        lua_pop(state, 1);
    } else if (lua_isinteger(state, -1) && lua_tointeger(state, -1) == -1 && call->base.family->axes[axis].low >= 0) {
        return EVERY;
    }
    return kw_rule_axis_value(state, call->rules->set_file, &call->base.family->axes[axis]); /* an ordinary number, or the error */
}

/* The table on top into the config; axes that it does not name stay. Returns the axes that have every value, as bits. */
static uint32_t read_point(lua_State *state, const point_call *call, const char *file, kw_config *config) {
    uint32_t every = 0;
    if (!lua_istable(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: a point is a table of axes such as {tile_m = 64}, not a %s", file, luaL_typename(state, -1));
    }
    for (lua_pushnil(state); lua_next(state, -2); lua_pop(state, 1)) {
        lua_pushvalue(state, -2);
        if (lua_rawget(state, AT_NAMES) != LUA_TNUMBER) {
            const char *name = lua_type(state, -3) == LUA_TSTRING ? lua_tostring(state, -3) : luaL_typename(state, -3);
            kw_lua_raise(state, KW_MISSING, "%s: %s has no axis '%s'", file, config->family->name, name);
        }
        int axis = (int)lua_tointeger(state, -1);
        lua_pop(state, 1);
        config->axis[axis] = point_value(state, call, axis);
        every |= config->axis[axis] == EVERY ? 1u << axis : 0;
    }
    return every;
}

static void read_axis_defaults(lua_State *state, point_call *call) {
    const kw_family *family = call->base.family;
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->of->defaults_ref);
    for (int i = 0; i < family->axis_count; i++) {
        call->base.axis[i] = EVERY;
    }
    read_point(state, call, call->of->file, &call->base);
    for (int i = 0; i < family->axis_count; i++) {
        if (call->base.axis[i] == EVERY) {
            kw_lua_raise(state, KW_MALFORMED, "%s: 'defaults' gives axis %s no value", call->of->file, family->axes[i].name);
        }
    }
    lua_pop(state, 1);
}

static void add_legal(lua_State *state, const point_call *call, const kw_config *config) {
    kw_error err;
    if (kw_rules_legal(call->rules, config, NULL)) {
        if (call->rules->refused) {
            call->rules->refused(call->rules->refused_user, config);
        }
        return;
    }
    kw_status status = kw_catalog_add(call->out, config, NULL, &err);
    if (status) {
        kw_lua_raise(state, status, "%s", err.text);
    }
}

/* Adds the configs that a point with axes of several values stands for: their product. */
static void expand_point(lua_State *state, point_call *call, kw_config *config, uint32_t every) {
    int64_t count = 1;
    for (int i = 0; i < config->family->axis_count; i++) {
        count *= every >> i & 1 ? call->values->count[i] : 1;
        if (count + call->tried > EXPANDED_MAX) {
            kw_lua_raise(state, KW_ILLEGAL, "%s: %s %s %s: the points stand for more than %d configs; give fewer values",
                         call->rules->set_file, config->family->name, kw_op_name(config->op), kw_dtype_name(config->dtype), EXPANDED_MAX);
        }
    }
    call->tried += count;
    for (int64_t number = 0; number < count; number++) {
        int64_t rest = number;
        for (int i = config->family->axis_count - 1; i >= 0; i--) {
            if (every >> i & 1) {
                config->axis[i] = call->values->values[i][rest % call->values->count[i]];
                rest /= call->values->count[i];
            }
        }
        add_legal(state, call, config);
    }
}

/* Whether the choice has the point's values of axes that it names and that stay the points' own. */
static bool is_chosen(const point_call *call, const kw_config *config, uint32_t every) {
    bool chosen = true;
    for (int i = 0; chosen && i < config->family->axis_count; i++) {
        if ((call->named & ~(call->chosen | call->choice->every | every)) >> i & 1) {
            chosen = false;
            for (int32_t j = 0; j < call->choice->values.count[i]; j++) {
                chosen = chosen || call->choice->values.values[i][j] == config->axis[i];
            }
        }
    }
    return chosen;
}

/* Whether a point before it, in the table on top, stood for the same configs: one that differs in axes of every value only. */
static bool is_known(lua_State *state, const kw_config *config, uint32_t every) {
    kw_config point = *config;
    for (int i = 0; i < config->family->axis_count; i++) {
        point.axis[i] = every >> i & 1 ? EVERY : point.axis[i];
    }
    lua_pushlstring(state, (const char *)point.axis, (size_t)config->family->axis_count * sizeof *point.axis);
    lua_pushvalue(state, -1);
    bool known = lua_rawget(state, -3) != LUA_TNIL;
    lua_pop(state, 1);
    lua_pushboolean(state, true);
    lua_rawset(state, -3);
    return known;
}

/* legal(point): whether C allows it on this architecture. */
static int lua_legal(lua_State *state) {
    const point_call *call = lua_touserdata(state, lua_upvalueindex(1));
    kw_config config = call->base;
    luaL_checktype(state, 1, LUA_TTABLE);
    lua_settop(state, 1);
    lua_pushvalue(state, lua_upvalueindex(2));
    lua_pushvalue(state, lua_upvalueindex(3));
    lua_pushvalue(state, 1);
    if (read_point(state, call, call->rules->set_file, &config)) {
        kw_lua_raise(state, KW_ILLEGAL, "%s: legal() is asked of points without axes of every value", call->rules->set_file);
    }
    lua_pushboolean(state, !kw_rules_legal(call->rules, &config, NULL));
    return 1;
}

/* { streamk = true, ... }: the axes that traits name. */
static void push_named(lua_State *state, const point_call *call) {
    lua_newtable(state);
    for (int i = 0; i < call->of->family->axis_count; i++) {
        if (call->named >> i & 1) {
            lua_pushboolean(state, true);
            lua_setfield(state, -2, call->of->family->axes[i].name);
        }
    }
}

static int read_points(lua_State *state) {
    point_call *call = lua_touserdata(state, AT_CALL);
    push_names(state, call->base.family);
    read_axis_defaults(state, call);
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->of->member_ref);
    lua_getfield(state, -1, "points");
    lua_rawgeti(state, LUA_REGISTRYINDEX, call->rules->arch_ref);
    lua_pushstring(state, kw_op_name(call->base.op));
    lua_pushstring(state, kw_dtype_name(call->base.dtype));
    lua_pushlightuserdata(state, call);
    lua_pushvalue(state, AT_NAMES);
    lua_pushvalue(state, AT_WORDS);
    lua_pushcclosure(state, lua_legal, 3);
    push_named(state, call);
    lua_call(state, 5, 1);
    if (!lua_istable(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "%s: points() must return a list, not a %s", call->rules->set_file, luaL_typename(state, -1));
    }
    lua_Integer length = (lua_Integer)lua_rawlen(state, -1);
    lua_newtable(state); /* of is_known() */
    for (lua_Integer i = 1; i <= length; i++) {
        kw_config config = call->base;
        lua_rawgeti(state, -2, i);
        uint32_t every = read_point(state, call, call->rules->set_file, &config) | call->chosen;
        lua_pop(state, 1);
        if (call->choice && !is_chosen(call, &config, every)) {
            continue;
        }
        if (!every) {
            add_legal(state, call, &config);
        } else if (!is_known(state, &config, every)) {
            expand_point(state, call, &config, every);
        }
    }
    return 0;
}

static int read_base(lua_State *state) {
    point_call *call = lua_touserdata(state, AT_CALL);
    push_names(state, call->base.family);
    read_axis_defaults(state, call);
    return 0;
}

/* The configs of the lists that serve the op and dtype, as far as they are legal. */
static kw_status take_builder(point_call *call, kw_error *err) {
    kw_rules *rules = call->rules;
    if (!rules->builder_folder) {
        return kw_fail(err, KW_MISSING, "%s: its kernels come from lists of CK Builder; name their folder with --builder-conf DIR",
                       rules->set_file);
    }
    kw_status status = kw_lua_run(rules->lua, read_base, call, kw_rules_origin(rules), err);
    kw_builder_lists lists = {rules->builder_folder, call->of->builder, rules->gpu ? rules->gpu->typical.lanes : 64};
    kw_catalog listed = {0};
    status = status ? status : kw_builder_read(&listed, &lists, &call->base, err);
    for (size_t i = 0; !status && i < listed.count; i++) {
        if (!kw_rules_legal(rules, &listed.configs[i], NULL)) {
            status = kw_catalog_add(call->out, &listed.configs[i], NULL, err);
        }
    }
    kw_catalog_drop(&listed);
    return status;
}

/* Puts the chosen values in the place of all. */
static void take_choice(point_call *call, kw_axis_values *values, const kw_axis_choice *choice) {
    for (int i = 0; i < call->of->family->axis_count; i++) {
        bool every = choice->every >> i & 1, named = every || choice->values.count[i];
        call->named |= named ? 1u << i : 0;
        if (named && !(call->of->keeps >> i & 1)) {
            call->chosen |= 1u << i;
            values->values[i] = every ? values->values[i] : choice->values.values[i];
            values->count[i] = every ? values->count[i] : choice->values.count[i];
        }
    }
}

kw_status kw_family_rules_points(kw_catalog *out, const kw_family_rules *of, kw_rules *rules, kw_op op, kw_dtype dtype,
                                 const kw_axis_choice *choice, kw_error *err) {
    kw_axis_values values;
    point_call call = {.of = of,
                       .rules = rules,
                       .out = out,
                       .values = &values,
                       .choice = choice,
                       .base = {.family = of->family, .op = op, .dtype = dtype}};
    if (of->builder) {
        return take_builder(&call, err);
    }
    kw_status status = kw_family_rules_values(&values, of, rules, op, dtype, err);
    if (!status && choice) {
        take_choice(&call, &values, choice);
    }
    kw_lua_set_step_limit(rules->lua, KW_RULE_FILE_STEPS);
    return status ? status : kw_lua_run(rules->lua, read_points, &call, kw_rules_origin(rules), err);
}
