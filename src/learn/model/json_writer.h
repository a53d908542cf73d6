/* json_writer.h: JSON being written, two blanks a level. Members and elements come one after the other; key NULL inside an array. */
#ifndef KW_LEARN_MODEL_JSON_WRITER_H
#define KW_LEARN_MODEL_JSON_WRITER_H

#include "base/text.h"

/* Zeroed: empty. */
typedef struct kw_json_out {
    kw_text text;
    int depth;
    bool filled; /* the level under way has something in it */
} kw_json_out;

void kw_json_begin(kw_json_out *json, const char *key, char bracket); /* '{' or '[' */
void kw_json_end(kw_json_out *json, char bracket);                    /* '}' or ']' */
void kw_json_text(kw_json_out *json, const char *key, const char *value);
void kw_json_int(kw_json_out *json, const char *key, int64_t value);
/* null for what is not finite. */
void kw_json_real(kw_json_out *json, const char *key, double value);

#endif
