/* json_write.c: commas, indents and escapes in one place. */
#include "json/json_write.h"

#include "base/format/number.h"

#include <assert.h>
#include <math.h>

void kw_json_add_string(kw_text *text, const char *string) {
    kw_text_add(text, "\"");
    const char *start = string, *at = string;
    for (; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c >= 0x20 && c != '"' && c != '\\') {
            continue;
        }
        kw_text_add_bytes(text, start, (size_t)(at - start));
        kw_text_addf(text, c >= 0x20 ? "\\%c" : "\\u%04x", c);
        start = at + 1;
    }
    kw_text_add_bytes(text, start, (size_t)(at - start));
    kw_text_add(text, "\"");
}

static void indent(kw_json_out *json) {
    for (int i = 0; i < json->depth; i++) {
        kw_text_add(&json->text, "  ");
    }
}

static void start_value(kw_json_out *json, const char *key) {
    assert((key != NULL) == (json->depth && json->close[json->depth - 1] == '}'));
    if (json->depth) {
        kw_text_add(&json->text, json->filled ? ",\n" : "\n");
    }
    indent(json);
    if (key) {
        kw_json_add_string(&json->text, key);
        kw_text_add(&json->text, ": ");
    }
    json->filled = true;
}

static void open_level(kw_json_out *json, const char *key, const char *open, char close) {
    assert(json->depth < KW_JSON_DEPTH);
    start_value(json, key);
    kw_text_add(&json->text, open);
    json->close[json->depth++] = close;
    json->filled = false;
}

void kw_json_object(kw_json_out *json, const char *key) {
    open_level(json, key, "{", '}');
}

void kw_json_array(kw_json_out *json, const char *key) {
    open_level(json, key, "[", ']');
}

void kw_json_end(kw_json_out *json) {
    assert(json->depth);
    json->depth--;
    if (json->filled) {
        kw_text_add(&json->text, "\n");
        indent(json);
    }
    kw_text_add_bytes(&json->text, &json->close[json->depth], 1);
    kw_text_add(&json->text, json->depth ? "" : "\n");
    json->filled = true;
}

void kw_json_text(kw_json_out *json, const char *key, const char *value) {
    start_value(json, key);
    kw_json_add_string(&json->text, value);
}

void kw_json_int(kw_json_out *json, const char *key, int64_t value) {
    start_value(json, key);
    kw_text_addf(&json->text, "%lld", (long long)value);
}

void kw_json_real(kw_json_out *json, const char *key, double value) {
    char number[KW_NUMBER_TEXT] = "null";
    if (isfinite(value)) {
        kw_number_print(number, value);
    }
    start_value(json, key);
    kw_text_add(&json->text, number);
}
