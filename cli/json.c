/* json.c: what the verbs print for machines: one JSON object a line, made by jansson. Its first member, "schema", is CLI_SCHEMA, one number for
 * all verbs; it grows when a member changes its meaning or goes away. */
#include "cli.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_DIGITS = 12 }; /* of what is measured or worked out from it */

static void add(cli_json *json, const char *key, json_t *value) {
    json_t *open = json->at[json->depth];
    assert(!open || json_is_object(open) == (key != NULL));
    json->failed |= (key ? json_object_set_new(open, key, value) : json_array_append_new(open, value)) != 0;
}

static void begin(cli_json *json, const char *key, json_t *value) {
    assert(json->depth + 1 < CLI_JSON_DEPTH);
    add(json, key, value);
    json->at[++json->depth] = json->failed ? NULL : value;
}

void cli_json_start(cli_json *json) {
    *json = (cli_json){.at = {json_object()}};
    cli_json_int(json, "schema", CLI_SCHEMA);
}

void cli_json_object(cli_json *json, const char *key) {
    begin(json, key, json_object());
}

void cli_json_list(cli_json *json, const char *key) {
    begin(json, key, json_array());
}

void cli_json_end(cli_json *json) {
    assert(json->depth);
    json->depth--;
}

/* Bytes that are not UTF-8, as a path may have, become '?'. */
void cli_json_text(cli_json *json, const char *key, const char *text) {
    json_t *value = json_string(text);
    char *copy = value ? NULL : strdup(text);
    for (char *c = copy; c && *c; c++) {
        *c = (char)((unsigned char)*c < 0x80 ? *c : '?');
    }
    add(json, key, copy ? json_string(copy) : value);
    free(copy);
}

void cli_json_int(cli_json *json, const char *key, int64_t value) {
    add(json, key, json_integer(value));
}

void cli_json_real(cli_json *json, const char *key, double value) {
    add(json, key, isfinite(value) ? json_real(value) : json_null());
}

void cli_json_bool(cli_json *json, const char *key, bool value) {
    add(json, key, json_boolean(value));
}

void cli_json_null(cli_json *json, const char *key) {
    add(json, key, json_null());
}

void cli_json_target(cli_json *json, const kw_context *context) {
    const char *target = kw_context_target(context), *units = strstr(target, " units=");
    cli_json_text(json, "target", target);
    if (!kw_context_is_gpu(context) && units) {
        cli_json_int(json, "threads", strtoll(units + strlen(" units="), NULL, 10));
    }
}

void cli_json_print(cli_json *json, FILE *to) {
    kw_error err = {.status = KW_NO_MEMORY, .text = "out of memory for JSON"};
    assert(!json->depth);
    char *text = json->failed ? NULL : json_dumps(json->at[0], JSON_REAL_PRECISION(REAL_DIGITS));
    if (text) {
        err = (kw_error){0};
        /* In one piece, so that lines of processes that share a log do not mix. Progress that nobody reads is no failure. */
        if (fprintf(to, "%s\n", text) < 0 && to != stderr) {
            err = (kw_error){KW_IO, "cannot write JSON to the output"};
        }
    }
    free(text);
    json_decref(json->at[0]);
    *json = (cli_json){0};
    if (err.status) {
        exit(cli_fail(&err));
    }
}
