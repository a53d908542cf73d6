/* lua_state.h: a confined Lua 5.4 interpreter for rules and filters. What runs in it can compute and nothing else: the only names are math
 * (a subset), ipairs, type, error and assert; text chunks only, no bytecode; memory and instructions are limited; nothing can be
 * assigned globally, so that one file cannot change what another sees. Left out on purpose: pcall (it could swallow a limit), coroutines
 * (they do not inherit the instruction hook), the string library (C loops that the hook cannot interrupt) and pairs (its order changes from
 * run to run, and enumeration must not).
 *
 * Lua raises by longjmp, and outside a protected call it aborts the process. So everything that can raise runs inside kw_lua_run or
 * a lua_pcall whose failure goes through kw_lua_failure. */
#ifndef KW_SPACE_RULES_LUA_STATE_H
#define KW_SPACE_RULES_LUA_STATE_H

#include "base/status.h"

#include <lauxlib.h>
#include <lua.h>

typedef struct kw_lua {
    lua_State *state;
    size_t used, limit; /* bytes */
    int64_t steps;      /* instructions that the call under way may still take */
    kw_status status;   /* of the error being raised; KW_MALFORMED unless kw_lua_raise said otherwise */
    bool over_memory, over_steps;
} kw_lua;

kw_status kw_lua_open(kw_lua **lua, size_t memory_limit, kw_error *err);
void kw_lua_close(kw_lua **lua);
/* The interpreter that a Lua state belongs to. */
kw_lua *kw_lua_of(lua_State *state);

/* Makes one more name known to what runs there: a function with user as its upvalue 1, a light userdata. */
kw_status kw_lua_define(kw_lua *lua, const char *name, lua_CFunction function, void *user, kw_error *err);
/* Gives the next call so many instructions. */
void kw_lua_set_step_limit(kw_lua *lua, int64_t steps);
/* Calls function protected with argument as light userdata at index 1, nothing returned. where begins the error message. */
kw_status kw_lua_run(kw_lua *lua, lua_CFunction function, void *argument, const char *where, kw_error *err);
/* Turns a failed lua_pcall's code and message (popped) into one line: "WHERE: MESSAGE". */
kw_status kw_lua_failure(kw_lua *lua, int code, const char *where, kw_error *err);

/* Only inside protected calls. kw_lua_raise does not return; the message gets the position of the Lua code that called. */
int kw_lua_raise(lua_State *state, kw_status status, const char *format, ...) __attribute__((format(printf, 3, 4), noreturn));
/* Replaces the table on top, and those in it, by ones that can be read (fields, # and ipairs) but not written. C reads lists that may come from
 * such a table with luaL_len and lua_geti. */
void kw_lua_seal(lua_State *state);
/* Compiles text and pushes the function. */
void kw_lua_compile(lua_State *state, const char *name, const char *text, size_t size);

#endif
