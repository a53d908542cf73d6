/* config_view.h: a config as confined Lua code sees it: c.family, c.op, c.dtype and every axis by name (integers, or strings for word
 * axes), and the published fields besides (space/ck/fields.h): c.pipeline, c.double_smem_buffer, c.variant. Read-only. A field that does not exist raises, because a typing error that quietly selects nothing is worse than none. */
#ifndef KW_SPACE_RULES_CONFIG_VIEW_H
#define KW_SPACE_RULES_CONFIG_VIEW_H

#include "config/config.h"
#include "space/rules/lua_state.h"

/* The object behind c; its memory is Lua's. config is what c shows now. A field that only other families have sets foreign
 * before it raises, so that a filter can tell "not mine" from "no such thing". */
typedef struct kw_config_view {
    const kw_config *config;
    const char *arch; /* c.arch; NULL: not known */
    bool foreign;
} kw_config_view;

/* Pushes a new object (protected calls only). */
kw_config_view *kw_config_view_push(lua_State *state);

#endif
