/* json_writer.c: commas, indents and escapes in one place. */
#include "learn/model/json_writer.h"

#include "base/number.h"
#include "store/line.h"

#include <math.h>

static void start(kw_json_out *json, const char *key) {
    if (json->depth) {
        kw_text_add(&json->text, json->filled ? ",\n" : "\n");
    }
    for (int i = 0; i < json->depth; i++) {
        kw_text_add(&json->text, "  ");
    }
    if (key) {
        kw_line_add_string(&json->text, key);
        kw_text_add(&json->text, ": ");
    }
    json->filled = true;
}

void kw_json_begin(kw_json_out *json, const char *key, char bracket) {
    start(json, key);
    kw_text_add_bytes(&json->text, &bracket, 1);
    json->depth++;
    json->filled = false;
}

void kw_json_end(kw_json_out *json, char bracket) {
    json->depth--;
    if (json->filled) {
        kw_text_add(&json->text, "\n");
        for (int i = 0; i < json->depth; i++) {
            kw_text_add(&json->text, "  ");
        }
    }
    kw_text_add_bytes(&json->text, &bracket, 1);
    kw_text_add(&json->text, json->depth ? "" : "\n");
    json->filled = true;
}

void kw_json_text(kw_json_out *json, const char *key, const char *value) {
    start(json, key);
    kw_line_add_string(&json->text, value);
}

void kw_json_int(kw_json_out *json, const char *key, int64_t value) {
    start(json, key);
    kw_text_addf(&json->text, "%lld", (long long)value);
}

void kw_json_real(kw_json_out *json, const char *key, double value) {
    char number[KW_NUMBER_TEXT] = "null";
    if (isfinite(value)) {
        kw_number_print(number, value);
    }
    start(json, key);
    kw_text_add(&json->text, number);
}
