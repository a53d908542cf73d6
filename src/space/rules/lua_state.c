/* lua_state.c: allocator and hook with limits, the list of names that confined code may use, errors as one line.
 *
 * The names live in two sealed tables (the globals and math): empty tables whose metatable reads from a hidden one and refuses writes.
 * Without getmetatable, rawset and debug the seal cannot be opened. */
#include "space/rules/lua_state.h"
#include "space/rules/rule_files.h"

#include <lualib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rules make many tables that live to the end of a call: collecting waits until there is GC_PAUSE percent of what was left the
 * last time. */
enum { HOOK_STEPS = 1000, SETUP_STEPS = 100000, GC_PAUSE = 1000, SEAL_DEPTH_MAX = 16 };

static const char *const base_names[] = {"assert", "error", "ipairs", "type", NULL};
static const char *const math_names[] = {"abs", "ceil", "floor", "fmod", "huge", "log", "max", "min", "sqrt", "tointeger", NULL};

static void *limited_alloc(void *user, void *old, size_t old_size, size_t size) {
    kw_lua *lua = user;
    size_t before = old ? old_size : 0; /* for a new block Lua passes a type code in old_size */
    if (!size) {
        free(old);
        lua->used -= before;
        return NULL;
    }
    if (size > before && size - before > lua->limit - lua->used) {
        lua->over_memory = true; /* Lua collects garbage and asks again; only a second refusal raises */
        return NULL;
    }
    void *memory = realloc(old, size);
    if (memory) {
        lua->used += size - before;
    }
    return memory;
}

kw_lua *kw_lua_of(lua_State *state) {
    kw_lua *lua;
    memcpy(&lua, lua_getextraspace(state), sizeof lua);
    return lua;
}

static void count_steps(lua_State *state, lua_Debug *activation) {
    (void)activation;
    kw_lua *lua = kw_lua_of(state);
    lua->steps -= HOOK_STEPS;
    if (lua->steps <= 0) {
        lua->over_steps = true;
        luaL_where(state, 0); /* a hook has no frame of its own */
        lua_pushliteral(state, "takes too many steps; is there an endless loop?");
        lua_concat(state, 2);
        lua_error(state);
    }
}

void kw_lua_set_step_limit(kw_lua *lua, int64_t steps) {
    lua->steps = steps;
    lua->over_memory = false;
    lua_sethook(lua->state, count_steps, LUA_MASKCOUNT, HOOK_STEPS);
}

int kw_lua_raise(lua_State *state, kw_status status, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kw_lua_of(state)->status = status;
    luaL_error(state, "%s", text);
    abort(); /* not reached: luaL_error does not return, though its type says so */
}

static int refuse_readonly_write(lua_State *state) {
    const char *name = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : "it";
    kw_lua_raise(state, KW_ILLEGAL, "'%s' cannot be assigned here; use a local", name);
}

static int read_readonly(lua_State *state) {
    lua_pushvalue(state, 2);
    lua_rawget(state, lua_upvalueindex(1));
    if (lua_isnil(state, -1)) {
        const char *name = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2);
        kw_lua_raise(state, KW_MISSING, "'%s' is not known here; use locals, c, arch, math, ipairs, type, assert, error", name);
    }
    return 1;
}

/* Replaces the table on top by an empty one that reads from it. */
static void make_readonly(lua_State *state) {
    lua_newtable(state);
    lua_createtable(state, 0, 2);
    lua_pushvalue(state, -3);
    lua_pushcclosure(state, read_readonly, 1);
    lua_setfield(state, -2, "__index");
    lua_pushcfunction(state, refuse_readonly_write);
    lua_setfield(state, -2, "__newindex");
    lua_setmetatable(state, -2);
    lua_remove(state, -2);
}

static int length_of_sealed(lua_State *state) {
    lua_pushinteger(state, (lua_Integer)lua_rawlen(state, lua_upvalueindex(1)));
    return 1;
}

static void seal(lua_State *state, int depth) {
    if (depth == SEAL_DEPTH_MAX) {
        kw_lua_raise(state, KW_ILLEGAL, "tables stand more than %d deep in each other", SEAL_DEPTH_MAX);
    }
    luaL_checkstack(state, 8, "a table");
    for (lua_pushnil(state); lua_next(state, -2);) {
        if (lua_istable(state, -1)) {
            seal(state, depth + 1);
            lua_pushvalue(state, -2);
            lua_insert(state, -2);
            lua_rawset(state, -4); /* a field that is there may be replaced during a walk */
        } else {
            lua_pop(state, 1);
        }
    }
    lua_newtable(state);
    lua_createtable(state, 0, 3);
    lua_pushvalue(state, -3);
    lua_setfield(state, -2, "__index"); /* what is not there is nil, as in any table */
    lua_pushvalue(state, -3);
    lua_pushcclosure(state, length_of_sealed, 1);
    lua_setfield(state, -2, "__len");
    lua_pushcfunction(state, refuse_readonly_write);
    lua_setfield(state, -2, "__newindex");
    lua_setmetatable(state, -2);
    lua_remove(state, -2);
}

void kw_lua_seal(lua_State *state) {
    seal(state, 0);
}

/* Copies the named fields of the table on top into the table below it, and pops the first. */
static void keep_names(lua_State *state, const char *const *names) {
    for (; *names; names++) {
        lua_getfield(state, -1, *names);
        lua_setfield(state, -3, *names);
    }
    lua_pop(state, 1);
}

static int set_up(lua_State *state) {
    lua_newtable(state);
    lua_pushcfunction(state, luaopen_base);
    lua_call(state, 0, 1);
    keep_names(state, base_names);
    lua_newtable(state);
    lua_pushcfunction(state, luaopen_math);
    lua_call(state, 0, 1);
    keep_names(state, math_names);
    make_readonly(state);
    lua_setfield(state, -2, "math");
    make_readonly(state);
    /* Compiled chunks get this table as their only upvalue, _ENV. */
    lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    return 0;
}

typedef struct definition {
    const char *name;
    lua_CFunction function;
    void *user;
} definition;

/* The hidden table of the globals is the upvalue of the function that reads it. */
static int define_functions(lua_State *state) {
    const definition *what = lua_touserdata(state, 1);
    lua_rawgeti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    luaL_getmetafield(state, -1, "__index");
    lua_getupvalue(state, -1, 1);
    lua_pushlightuserdata(state, what->user);
    lua_pushcclosure(state, what->function, 1);
    lua_setfield(state, -2, what->name);
    return 0;
}

kw_status kw_lua_define(kw_lua *lua, const char *name, lua_CFunction function, void *user, kw_error *err) {
    definition what = {name, function, user};
    kw_lua_set_step_limit(lua, SETUP_STEPS);
    return kw_lua_run(lua, define_functions, &what, "setting up Lua", err);
}

kw_status kw_lua_open(kw_lua **out, size_t memory_limit, kw_error *err) {
    *out = NULL;
    kw_lua *lua = calloc(1, sizeof *lua);
    if (!lua) {
        return kw_fail_memory(err, "the Lua interpreter");
    }
    lua->limit = memory_limit;
    lua->state = lua_newstate(limited_alloc, lua);
    if (!lua->state) {
        free(lua);
        return kw_fail_memory(err, "the Lua interpreter");
    }
    memcpy(lua_getextraspace(lua->state), &lua, sizeof lua);
    lua_gc(lua->state, LUA_GCINC, GC_PAUSE, 0, 0);
    kw_lua_set_step_limit(lua, SETUP_STEPS);
    kw_status status = kw_lua_run(lua, set_up, NULL, "setting up Lua", err);
    if (status) {
        kw_lua_close(&lua);
    }
    *out = lua;
    return status;
}

void kw_lua_close(kw_lua **lua) {
    if (*lua) {
        lua_close((*lua)->state);
        free(*lua);
        *lua = NULL;
    }
}

/* Of the position ":1: " that a nameless chunk puts before its messages; it says nothing. */
static size_t position_length(const char *message) {
    size_t digits = message[0] == ':' ? strspn(message + 1, "0123456789") : 0;
    return digits && !strncmp(message + 1 + digits, ": ", 2) ? digits + 3 : 0;
}

kw_status kw_lua_failure(kw_lua *lua, int code, const char *where, kw_error *err) {
    kw_status status = lua->status ? lua->status : KW_MALFORMED;
    if (code == LUA_ERRMEM && lua->over_memory) {
        status = kw_fail(err, KW_ILLEGAL, "%s: needs more than %zu KiB of memory; compute less", where, lua->limit / 1024);
    } else if (code == LUA_ERRMEM) {
        status = kw_fail_memory(err, where);
    } else {
        /* lua_tostring would convert (and allocate for) a number; only strings are read. */
        const char *message = lua_type(lua->state, -1) == LUA_TSTRING ? lua_tostring(lua->state, -1) : "error() was called without a text";
        message += position_length(message);
        status = kw_fail(err, lua->over_steps ? KW_ILLEGAL : status, "%s: %s", where, message);
    }
    lua_settop(lua->state, 0);
    lua->status = KW_OK;
    lua->over_memory = lua->over_steps = false;
    return status;
}

kw_status kw_lua_run(kw_lua *lua, lua_CFunction function, void *argument, const char *where, kw_error *err) {
    lua_settop(lua->state, 0);
    lua_pushcfunction(lua->state, function);
    lua_pushlightuserdata(lua->state, argument);
    int code = lua_pcall(lua->state, 1, 0, 0);
    return code ? kw_lua_failure(lua, code, where, err) : KW_OK;
}

void kw_lua_compile(lua_State *state, const char *name, const char *text, size_t size) {
    if (luaL_loadbufferx(state, text, size, name, "t")) {
        lua_error(state);
    }
}

const char *kw_lua_version(void) {
    return LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE;
}
