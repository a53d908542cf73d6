/* filter.c: each filter has an interpreter of its own, so that no expression can reach another's. The expression becomes
 * "local c = ... return EXPRESSION": a return is the last statement of a chunk, so nothing can follow it. */
#include "space/filter/filter.h"

#include "space/rules/config_view.h"
#include "space/filter/filter_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_LIMIT = 4 << 20, STEP_LIMIT = 1000000, TEXT_LIMIT = 64 << 10, SHOWN = 160 };

struct kw_filter {
    kw_lua *lua;
    kw_config_view *view;
    int function, object;   /* their places in Lua's registry */
    const char *expression; /* the caller's, while opening */
    char where[SHOWN + 24]; /* "filter 'c.x > 1'": how messages begin */
};

static int compile_filter(lua_State *state) {
    kw_filter *filter = lua_touserdata(state, 1);
    lua_pushfstring(state, "local c = ... return %s", filter->expression);
    size_t size;
    const char *text = lua_tolstring(state, -1, &size);
    kw_lua_compile(state, "=", text, size);
    filter->function = luaL_ref(state, LUA_REGISTRYINDEX);
    filter->view = kw_config_view_push(state);
    filter->object = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
}

kw_status kw_filter_open(kw_filter **out, const char *expression, const char *arch, kw_error *err) {
    *out = NULL;
    size_t length = strlen(expression);
    if (length > TEXT_LIMIT) {
        return kw_fail(err, KW_ILLEGAL, "filter: %zu bytes long; at most %d are read", length, TEXT_LIMIT);
    }
    kw_filter *filter = calloc(1, sizeof *filter);
    if (!filter) {
        return kw_fail_memory(err, "a filter");
    }
    kw_text text = {0};
    snprintf(filter->where, sizeof filter->where, "filter '%.*s%s'", SHOWN, expression, length > SHOWN ? "..." : "");
    kw_status status = kw_filter_text(&text, expression, filter->where, err);
    filter->expression = kw_text_string(&text);
    status = status || !text.failed ? status : kw_fail_memory(err, "a filter");
    status = status ? status : kw_lua_open(&filter->lua, MEMORY_LIMIT, err);
    if (!status) {
        kw_lua_set_step_limit(filter->lua, STEP_LIMIT);
        status = kw_lua_run(filter->lua, compile_filter, filter, filter->where, err);
    }
    filter->expression = NULL;
    kw_text_drop(&text);
    if (status) {
        kw_filter_close(&filter);
    }
    if (!status) {
        filter->view->arch = arch;
    }
    *out = filter;
    return status;
}

void kw_filter_close(kw_filter **filter) {
    if (*filter) {
        kw_lua_close(&(*filter)->lua);
        free(*filter);
        *filter = NULL;
    }
}

kw_status kw_filter_test(kw_filter *filter, const kw_config *config, bool *selected, kw_error *err) {
    lua_State *state = filter->lua->state;
    *selected = false;
    filter->view->config = config;
    filter->view->foreign = false;
    kw_lua_set_step_limit(filter->lua, STEP_LIMIT);
    lua_rawgeti(state, LUA_REGISTRYINDEX, filter->function);
    lua_rawgeti(state, LUA_REGISTRYINDEX, filter->object);
    int code = lua_pcall(state, 1, LUA_MULTRET, 0);
    if (code) {
        bool foreign = filter->view->foreign;
        kw_status status = kw_lua_failure(filter->lua, code, filter->where, foreign ? NULL : err);
        return foreign ? KW_OK : status;
    }
    int count = lua_gettop(state);
    bool good = count == 1 && lua_isboolean(state, 1);
    const char *type = count == 1 ? luaL_typename(state, 1) : count ? "list" : "nothing";
    *selected = good && lua_toboolean(state, 1);
    lua_settop(state, 0);
    return good ? KW_OK : kw_fail(err, KW_MALFORMED, "%s: yields %s, not true or false; compare with something", filter->where, type);
}
