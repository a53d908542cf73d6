/* grids.c: a set's table is read and expanded in one protected call. Each point is a fresh Lua table of its fields, which `where` may look
 * at, and is then read into a problem; a grid is at most some thousand points, so this is a matter of milliseconds and needs no second form of
 * a point in C. */
#include "space/problems/grids.h"

#include "space/problems/distinct.h"
#include "space/rules/lua_state.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_LIMIT = 64 << 20, SET_STEPS = 20000000, POINTS_MAX = 1 << 18, AXES_MAX = 12, WORDS_MAX = 6 };

static const char *const conv_fields[] = {"name", "spatial", "n", "g", "c", "k", "cg", "kg", "i", "f", "s", "p", "q", "d", NULL};
static const char *const gemm_fields[] = {"name", "b", "g", "m", "n", "k", NULL};

typedef struct set_load {
    kw_grid_list *list;
    const char *source;
    kw_word text;
    kw_dtype dtype;
    kw_op op;
    lua_Integer spatial;
    kw_distinct *distinct; /* NULL: repeats stay */
} set_load;

/* A grid being expanded. */
typedef struct grid {
    set_load *set;
    const char *name;
    int at; /* its table's place on the Lua stack */
    const char *const *fields;
    uint32_t given; /* bits of the fields that it has */
    int axes, words[AXES_MAX];
    int field[AXES_MAX][WORDS_MAX];
    size_t values[AXES_MAX];
    bool filtered;
} grid;

static int find_field(const grid *g, const char *name, size_t size) {
    for (int i = 0; g->fields[i]; i++) {
        if (strlen(g->fields[i]) == size && !memcmp(g->fields[i], name, size)) {
            return i;
        }
    }
    return -1;
}

static int take_field(lua_State *state, grid *g, const char *name, size_t size) {
    int field = find_field(g, name, size);
    if (field < 0) {
        kw_lua_raise(state, KW_MISSING, "grid %s: there is no field '%.*s'; a %s has %s", g->name, (int)(size < 40 ? size : 40), name,
                     g->set->op == KW_GEMM ? "GEMM" : "convolution",
                     g->set->op == KW_GEMM ? "b g m n k name" : "n g c k cg kg i f s p q d spatial name");
    }
    if (g->given >> field & 1) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: field %s is given twice; keep one", g->name, g->fields[field]);
    }
    g->given |= 1u << field;
    return field;
}

/* An axis: {"c k", {64, 128}, ...}, or with one name {"n", 1, 2, ...}. */
static void read_grid_axis(lua_State *state, grid *g, int axis) {
    if (lua_rawgeti(state, g->at, axis + 2) != LUA_TTABLE || lua_rawgeti(state, -1, 1) != LUA_TSTRING || lua_rawlen(state, -2) < 2) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: axis %d must be a list such as {\"n\", 1, 2} or {\"c k\", {64, 128}, {128, 64}}",
                     g->name, axis + 1);
    }
    kw_scan scan = kw_scan_string(lua_tostring(state, -1));
    kw_word word;
    while (kw_scan_word(&scan, &word)) {
        if (g->words[axis] == WORDS_MAX) {
            kw_lua_raise(state, KW_MALFORMED, "grid %s: axis %d has more than %d names", g->name, axis + 1, WORDS_MAX);
        }
        g->field[axis][g->words[axis]++] = take_field(state, g, word.at, word.size);
    }
    if (!g->words[axis]) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: axis %d has no name; begin it with one, as in {\"n\", 1, 2}", g->name, axis + 1);
    }
    g->values[axis] = lua_rawlen(state, -2) - 1;
    lua_pop(state, 2);
}

/* Fields that hold for all points of the grid. */
static void read_constants(lua_State *state, grid *g) {
    lua_pushnil(state);
    while (lua_next(state, g->at)) {
        if (lua_type(state, -2) == LUA_TSTRING && !strcmp(lua_tostring(state, -2), "where")) {
            if (!lua_isfunction(state, -1)) {
                kw_lua_raise(state, KW_MALFORMED, "grid %s: where must be a function of a point, not a %s", g->name,
                             luaL_typename(state, -1));
            }
            g->filtered = true;
        } else if (lua_type(state, -2) == LUA_TSTRING) {
            size_t size;
            const char *name = lua_tolstring(state, -2, &size);
            take_field(state, g, name, size);
        }
        lua_pop(state, 1);
    }
}

static void read_grid(lua_State *state, grid *g) {
    if (!lua_istable(state, g->at) || lua_rawgeti(state, g->at, 1) != LUA_TSTRING) {
        kw_lua_raise(state, KW_MALFORMED, "a grid must be a list that begins with its name, as in {\"small\", {\"n\", 1, 2}}");
    }
    g->name = lua_tostring(state, -1); /* the grid's table keeps it */
    lua_pop(state, 1);
    size_t length = lua_rawlen(state, g->at);
    if (strlen(g->name) > 80 || length > AXES_MAX + 1) {
        kw_lua_raise(state, KW_MALFORMED, "grid %.80s: a name has at most 80 characters, a grid at most %d axes", g->name, AXES_MAX);
    }
    g->axes = (int)length - 1;
    size_t points = 1;
    for (int axis = 0; axis < g->axes; axis++) {
        read_grid_axis(state, g, axis);
        points *= g->values[axis] < POINTS_MAX ? g->values[axis] : POINTS_MAX + 1;
        if (points > POINTS_MAX) {
            kw_lua_raise(state, KW_ILLEGAL, "grid %s: more than %d points; make it smaller", g->name, POINTS_MAX);
        }
    }
    read_constants(state, g);
}

/* --- a point --- */

/* The whole number in the field of the point on top; fallback when it is not given and may be missing (fallback >= 0). */
static int64_t number(lua_State *state, const grid *g, const char *field, int64_t fallback) {
    int whole = 0;
    int type = lua_getfield(state, -1, field);
    int64_t value = type == LUA_TNUMBER ? lua_tointegerx(state, -1, &whole) : fallback;
    if (type == LUA_TNIL && fallback < 0) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: %s is missing; add it as an axis or a constant", g->name, field);
    }
    if (type != LUA_TNIL && !whole) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: %s is a %s, not a whole number", g->name, field, luaL_typename(state, -1));
    }
    lua_pop(state, 1);
    return value;
}

/* One number for all spatial axes, or a list of ndim; unused axes get low. */
static void extents(lua_State *state, const grid *g, const char *field, int32_t ndim, int64_t fallback, int64_t low, int64_t out[3]) {
    bool list = lua_getfield(state, -1, field) == LUA_TTABLE;
    if (list && lua_rawlen(state, -1) != (size_t)ndim) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: %s lists %d numbers, but spatial is %d", g->name, field, (int)lua_rawlen(state, -1),
                     (int)ndim);
    }
    for (int axis = 0; axis < 3; axis++) {
        int whole = 1, position = axis - (3 - ndim);
        out[axis] = low;
        if (position < 0) {
            continue;
        }
        if (list) {
            lua_rawgeti(state, -1, position + 1);
            out[axis] = lua_tointegerx(state, -1, &whole);
            lua_pop(state, 1);
        }
        if (!whole) {
            kw_lua_raise(state, KW_MALFORMED, "grid %s: %s lists something that is not a whole number", g->name, field);
        }
    }
    lua_pop(state, 1);
    int64_t same = list ? 0 : number(state, g, field, fallback);
    for (int axis = 3 - ndim; axis < 3 && !list; axis++) {
        out[axis] = same;
    }
}

/* Channels: all of them, or those of one group. */
static int64_t channels(lua_State *state, const grid *g, const char *all, const char *one, int64_t groups) {
    bool given = lua_getfield(state, -1, one) != LUA_TNIL;
    lua_pop(state, 1);
    if (!given) {
        return number(state, g, all, -1);
    }
    int64_t each = number(state, g, one, -1);
    bool both = lua_getfield(state, -1, all) != LUA_TNIL;
    lua_pop(state, 1);
    if (both || each < 1 || each > INT32_MAX || groups < 1 || groups > INT32_MAX) {
        kw_lua_raise(state, KW_ILLEGAL, "grid %s: %s=%lld with g=%lld%s is not possible; give %s or %s, and sizes from 1", g->name, one,
                     (long long)each, (long long)groups, both ? " and the total" : "", all, one);
    }
    return each * groups;
}

static void read_conv(lua_State *state, const grid *g, kw_problem *problem) {
    kw_conv_dims *conv = &problem->conv;
    int64_t spatial = number(state, g, "spatial", g->set->spatial);
    if (spatial < 1 || spatial > 3) {
        kw_lua_raise(state, KW_ILLEGAL, "grid %s: spatial is %lld, not 1, 2 or 3", g->name, (long long)spatial);
    }
    int32_t ndim = problem->ndim = (int32_t)spatial;
    problem->layout = KW_CHANNELS_LAST;
    conv->n = number(state, g, "n", 1);
    conv->g = number(state, g, "g", 1);
    conv->c = channels(state, g, "c", "cg", conv->g);
    conv->k = channels(state, g, "k", "kg", conv->g);
    extents(state, g, "i", ndim, -1, 1, conv->in);
    extents(state, g, "f", ndim, -1, 1, conv->filter);
    extents(state, g, "s", ndim, 1, 1, conv->stride);
    extents(state, g, "d", ndim, 1, 1, conv->dilation);
    extents(state, g, "p", ndim, 0, 0, conv->pad);
    bool far = lua_getfield(state, -1, "q") != LUA_TNIL;
    lua_pop(state, 1);
    extents(state, g, far ? "q" : "p", ndim, 0, 0, conv->pad_back);
}

static void read_gemm_sizes(lua_State *state, const grid *g, kw_problem *problem) {
    problem->layout = KW_RCR;
    problem->gemm = (kw_gemm_dims){
        .batch = number(state, g, "b", 1),
        .m = number(state, g, "m", -1),
        .n = number(state, g, "n", -1),
        .k = number(state, g, "k", -1),
        .groups = number(state, g, "g", 0),
    };
}

static void append_grid_point(lua_State *state, set_load *set, const char *name, const kw_problem *problem) {
    kw_grid_list *list = set->list;
    size_t position = list->count;
    if (set->distinct && !kw_distinct_add(set->distinct, problem, &position)) {
        kw_lua_raise(state, KW_NO_MEMORY, "out of memory for a problem set");
    }
    if (position < list->count) {
        return;
    }
    if (list->count == POINTS_MAX) {
        kw_lua_raise(state, KW_ILLEGAL, "grid %s: the set has more than %d points by here; split it", name, POINTS_MAX);
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 256;
        kw_grid_point *points = reallocarray(list->points, capacity, sizeof *points);
        if (!points) {
            kw_lua_raise(state, KW_NO_MEMORY, "out of memory for a problem set");
        }
        list->points = points;
        list->capacity = capacity;
    }
    char *full = kw_arena_format(&list->arena, "%.80s_%04zu", name, list->count);
    if (!full) {
        kw_lua_raise(state, KW_NO_MEMORY, "out of memory for a problem set");
    }
    list->points[list->count++] = (kw_grid_point){full, *problem};
}

/* The point on top of the stack. */
static void take_point(lua_State *state, const grid *g) {
    kw_problem problem;
    memset(&problem, 0, sizeof problem); /* the bytes of equal problems are equal */
    problem.op = g->set->op;
    problem.dtype = g->set->dtype;
    const char *name = g->name;
    if (lua_getfield(state, -1, "name") != LUA_TNIL) {
        name = lua_type(state, -1) == LUA_TSTRING ? lua_tostring(state, -1) : NULL; /* the point keeps it */
    }
    lua_pop(state, 1);
    if (!name || !*name || strpbrk(name, " \t\r\n:#")) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: a name must be a text without blanks, ':' and '#'", g->name);
    }
    if (problem.op == KW_GEMM) {
        read_gemm_sizes(state, g, &problem);
    } else {
        read_conv(state, g, &problem);
    }
    kw_error why = {0};
    kw_status status = kw_problem_check(&problem, &why);
    if (status) {
        kw_lua_raise(state, status, "grid %s: %.300s", g->name, why.text);
    }
    append_grid_point(state, g->set, name, &problem);
}

/* --- expansion --- */

/* Pushes a table with the fields of the point at these positions. */
static void push_point(lua_State *state, const grid *g, const size_t position[AXES_MAX]) {
    lua_createtable(state, 0, 16);
    int point = lua_gettop(state);
    for (int field = 0; g->fields[field]; field++) {
        if (g->given >> field & 1 && lua_getfield(state, g->at, g->fields[field]) != LUA_TNIL) {
            lua_setfield(state, point, g->fields[field]);
        }
        lua_settop(state, point);
    }
    for (int axis = 0; axis < g->axes; axis++) {
        lua_rawgeti(state, g->at, axis + 2);
        lua_rawgeti(state, -1, (lua_Integer)position[axis] + 2);
        int words = g->words[axis];
        if (words == 1) {
            lua_setfield(state, point, g->fields[g->field[axis][0]]);
        } else if (!lua_istable(state, -1) || lua_rawlen(state, -1) != (size_t)words) {
            kw_lua_raise(state, KW_MALFORMED, "grid %s: value %d of axis %d must be a list of %d, one for each name", g->name,
                         (int)position[axis] + 1, axis + 1, words);
        }
        for (int word = 0; words > 1 && word < words; word++) {
            lua_rawgeti(state, -1, word + 1);
            lua_setfield(state, point, g->fields[g->field[axis][word]]);
        }
        lua_settop(state, point);
    }
}

static bool passes_grid_filter(lua_State *state, const grid *g) {
    if (!g->filtered) {
        return true;
    }
    lua_getfield(state, g->at, "where");
    lua_pushvalue(state, -2);
    lua_call(state, 1, 1);
    if (!lua_isboolean(state, -1)) {
        kw_lua_raise(state, KW_MALFORMED, "grid %s: where yields a %s, not true or false", g->name, luaL_typename(state, -1));
    }
    bool answer = lua_toboolean(state, -1);
    lua_pop(state, 1);
    return answer;
}

static void expand_grid(lua_State *state, const grid *g) {
    size_t position[AXES_MAX] = {0};
    for (int axis = 0; axis >= 0;) {
        push_point(state, g, position);
        if (passes_grid_filter(state, g)) {
            take_point(state, g);
        }
        lua_settop(state, g->at);
        for (axis = g->axes - 1; axis >= 0 && ++position[axis] == g->values[axis]; axis--) {
            position[axis] = 0;
        }
    }
}

static void read_head(lua_State *state, set_load *set, int table) {
    lua_pushnil(state);
    while (lua_next(state, table)) {
        lua_pop(state, 1);
        const char *key = lua_type(state, -1) == LUA_TSTRING ? lua_tostring(state, -1) : luaL_typename(state, -1);
        if (strcmp(key, "op") && strcmp(key, "spatial") && strcmp(key, "unique") && strcmp(key, "grids")) {
            kw_lua_raise(state, KW_MISSING, "unknown key '%.40s'; a set has op, spatial, unique and grids", key);
        }
    }
    const char *op = lua_getfield(state, table, "op") == LUA_TSTRING ? lua_tostring(state, -1) : "";
    for (set->op = 0; set->op < KW_OP_COUNT && strcmp(op, kw_op_name(set->op)); set->op++) {
    }
    if (set->op == KW_OP_COUNT) {
        kw_lua_raise(state, KW_MALFORMED, "op is '%.40s', not gemm, conv_fwd, conv_bwd_data or conv_bwd_weight", op);
    }
    lua_getfield(state, table, "spatial");
    set->spatial = lua_isinteger(state, -1) ? lua_tointeger(state, -1) : 2;
    lua_getfield(state, table, "unique");
    set->distinct = lua_toboolean(state, -1) ? set->distinct : NULL;
    lua_settop(state, table);
}

static int read_set(lua_State *state) {
    set_load *set = lua_touserdata(state, 1);
    lua_pushfstring(state, "=%s", set->source);
    kw_lua_compile(state, lua_tostring(state, -1), set->text.at, set->text.size);
    lua_call(state, 0, 1);
    int table = lua_gettop(state);
    if (!lua_istable(state, table)) {
        kw_lua_raise(state, KW_MALFORMED, "a problem set must return a table, not a %s", luaL_typename(state, table));
    }
    read_head(state, set, table);
    if (lua_getfield(state, table, "grids") != LUA_TTABLE) {
        kw_lua_raise(state, KW_MALFORMED, "grids is a %s, not a list of grids", luaL_typename(state, -1));
    }
    lua_Integer count = (lua_Integer)lua_rawlen(state, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(state, table + 1, i);
        grid g = {.set = set, .at = lua_gettop(state), .fields = set->op == KW_GEMM ? gemm_fields : conv_fields};
        read_grid(state, &g);
        expand_grid(state, &g);
        lua_settop(state, table + 1);
    }
    return 0;
}

kw_status kw_grids_read(kw_grid_list *list, const char *source, kw_word text, kw_dtype dtype, kw_error *err) {
    kw_lua *lua = NULL;
    kw_distinct distinct = {0};
    set_load set = {
        .list = list, .source = source, .text = text, .dtype = dtype == KW_DTYPE_COUNT ? KW_FP32 : dtype, .distinct = &distinct};
    kw_status status = kw_lua_open(&lua, MEMORY_LIMIT, err);
    if (!status) {
        kw_lua_set_step_limit(lua, SET_STEPS);
        status = kw_lua_run(lua, read_set, &set, source, err);
        kw_lua_close(&lua);
    }
    kw_distinct_drop(&distinct);
    if (status) {
        kw_grids_drop(list);
    }
    return status;
}

void kw_grids_drop(kw_grid_list *list) {
    kw_arena_drop(&list->arena);
    free(list->points);
    *list = (kw_grid_list){0};
}
