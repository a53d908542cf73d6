/* cache.c: the verb cache. */
#include "cli.h"

#include <stdio.h>

int verb_cache(const cli_args *args) {
    kw_error err = {0};
    kw_context *context = NULL;
    kw_paths places = {0};
    int64_t removed = 0;
    int code = cli_context(&context, args);
    if (!code && args->value[OPT_CLEAR] && kw_cache_clear(context, &removed, &err)) {
        code = cli_fail(&err);
    }
    if (!code && kw_context_paths(&places, context, &err)) {
        code = cli_fail(&err);
    }
    if (!code && args->value[OPT_JSON]) {
        cli_json json;
        cli_json_start(&json);
        cli_json_text(&json, "cache", places.cache);
        cli_json_int(&json, "kernels", places.cache_entries);
        cli_json_int(&json, "bytes", places.cache_bytes);
        cli_json_int(&json, "removed", removed);
        cli_json_print(&json, stdout);
    } else if (!code) {
        if (args->value[OPT_CLEAR]) {
            printf("removed %lld kernels\n", (long long)removed);
        }
        if (*places.cache_note) {
            printf("no cache: %s\n", cli_shown(places.cache_note));
        } else {
            printf("%s: %lld kernels, %.1f MB\n", cli_shown(places.cache), (long long)places.cache_entries,
                   (double)places.cache_bytes / 1e6);
        }
    }
    kw_context_close(&context);
    return code;
}
