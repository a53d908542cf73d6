/* json_write.h: JSON being written into a text, two blanks a level. Members and elements come one after the other; key is NULL inside an array and
 * for the outermost value. Numbers do not depend on the locale. */
#ifndef KW_JSON_JSON_WRITE_H
#define KW_JSON_JSON_WRITE_H

#include "base/text.h"

enum { KW_JSON_DEPTH = 32 };

/* Zeroed: empty. Want of memory is text.failed. */
typedef struct kw_json_out {
    kw_text text;
    int depth;
    bool filled;               /* the level under way has something in it */
    char close[KW_JSON_DEPTH]; /* by level */
} kw_json_out;

void kw_json_object(kw_json_out *json, const char *key);
void kw_json_array(kw_json_out *json, const char *key);
/* Ends the innermost object or array; the outermost with a line end. */
void kw_json_end(kw_json_out *json);
void kw_json_text(kw_json_out *json, const char *key, const char *value);
void kw_json_int(kw_json_out *json, const char *key, int64_t value);
/* null for what is not finite. */
void kw_json_real(kw_json_out *json, const char *key, double value);

/* A string with its quotes. It is UTF-8 already. */
void kw_json_add_string(kw_text *text, const char *string);

#endif
