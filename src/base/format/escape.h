/* escape.h: outside text made harmless for where it is shown. Names in a store may come from anyone, so nothing of a row reaches a page
 * or a terminal by another way, and nothing of an input a message (kw_fail).
 *
 * In every form, bytes that are not UTF-8, control characters (C0, DEL, C1) and characters that are invisible or turn the direction of
 * writing become visible as \x1b or \u{202e}. What is left is then quoted as the place demands. */
#ifndef KW_BASE_FORMAT_ESCAPE_H
#define KW_BASE_FORMAT_ESCAPE_H

#include "base/text.h"

#include <stdbool.h>

typedef enum kw_escape {
    KW_ESCAPE_TERMINAL, /* and plain text files */
    KW_ESCAPE_HTML,     /* text, attributes in quotes, and SVG alike */
    KW_ESCAPE_JSON,     /* inside the quotes of a JSON string that stands in a script element */
    KW_ESCAPE_CSV       /* a whole field; quoted where needed, and never the beginning of a spreadsheet's formula unless it is a number */
} kw_escape;

void kw_escape_add(kw_text *out, const char *text, kw_escape form);
/* At most limit characters, the last of them an ellipsis when something was cut. */
void kw_escape_add_truncated(kw_text *out, const char *text, kw_escape form, size_t limit);
/* Without memory of its own: terminated and cut at a whole character to fit (capacity above 0). lines: a line end or tab becomes a blank.
 * Returns the size of what was copied. */
size_t kw_escape_copy(char *to, size_t capacity, const char *text, bool lines);
/* For a data: address, everything but letters, digits and -._~ as %XX. */
void kw_escape_add_url(kw_text *out, const char *bytes, size_t size);
/* A word of a shell, in single quotes; to be shown by the functions above. */
void kw_escape_quote(kw_text *out, const char *text);
/* Drops a piece of text that was made for a whole; the whole has failed when the piece had. */
void kw_escape_drop(kw_text *piece, kw_text *whole);

#endif
