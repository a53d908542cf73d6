/* escape.c: makes characters visible that must not be shown as they are, and quotes for HTML, CSV, JSON, the shell or a terminal. */
#include "base/format/escape.h"

#include "base/format/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Invisible characters, and those that turn the direction of writing. */
static bool is_hidden_code(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code >= 0xe0000;
}

static void add_visible_code(kw_text *out, const char *shown, kw_escape form) {
    if (form == KW_ESCAPE_JSON) {
        kw_text_add(out, "\\"); /* the backslash of what is shown, doubled */
    }
    kw_text_add(out, shown);
}

static void add_html(kw_text *out, char c) {
    switch (c) {
    case '<':
        kw_text_add(out, "&lt;");
        break;
    case '>':
        kw_text_add(out, "&gt;");
        break;
    case '&':
        kw_text_add(out, "&amp;");
        break;
    case '"':
        kw_text_add(out, "&quot;");
        break;
    case '\'':
        kw_text_add(out, "&#39;");
        break;
    default:
        kw_text_add_bytes(out, &c, 1);
    }
}

static void add_byte(kw_text *out, char c, kw_escape form) {
    if (form == KW_ESCAPE_HTML) {
        add_html(out, c);
    } else if (form == KW_ESCAPE_JSON && (c == '<' || c == '>' || c == '&' || c == '\'')) {
        kw_text_addf(out, "\\u%04x", (unsigned)c);
    } else if ((form == KW_ESCAPE_JSON && (c == '"' || c == '\\')) || (form == KW_ESCAPE_CSV && c == '"')) {
        kw_text_addf(out, "%c%c", c == '"' && form == KW_ESCAPE_CSV ? '"' : '\\', c);
    } else {
        kw_text_add_bytes(out, &c, 1);
    }
}

/* The character at the front as it is shown; its length in shown, and how many bytes of the text it takes. */
static size_t show_character(char shown[16], const char **at, bool *changed) {
    uint32_t code = 0;
    size_t length = kw_utf8_decode(*at, &code);
    *changed = !length || is_hidden_code(code);
    size_t size = length;
    if (*changed) {
        size = (size_t)snprintf(shown, 16, length && code >= 0x80 ? "\\u{%x}" : "\\x%02x", length ? code : (unsigned char)**at);
    } else {
        memcpy(shown, *at, length);
    }
    *at += length ? length : 1;
    return size;
}

size_t kw_escape_copy(char *to, size_t capacity, const char *text, bool lines) {
    size_t size = 0;
    while (*text) {
        char shown[16];
        bool changed, blank = lines && strchr("\t\n\r", *text);
        size_t length = blank ? 1 : show_character(shown, &text, &changed);
        if (size + length >= capacity) {
            break;
        }
        memcpy(to + size, blank ? " " : shown, length);
        text += blank;
        size += length;
    }
    to[size] = 0;
    return size;
}

static void add_characters(kw_text *out, const char *text, kw_escape form, size_t limit) {
    const char *at = text;
    for (size_t shown = 0; *at; shown++) {
        char visible[16];
        bool changed;
        size_t length = show_character(visible, &at, &changed);
        if (shown + 1 >= limit && *at) {
            kw_text_add(out, "\xe2\x80\xa6");
            return;
        }
        visible[length] = 0;
        if (changed) {
            add_visible_code(out, visible, form);
        } else if (length == 1) {
            add_byte(out, *visible, form);
        } else {
            kw_text_add_bytes(out, visible, length);
        }
    }
}

static bool is_csv_number(const char *text) {
    size_t digits = strspn(text, "+-.0123456789eE");
    return digits && !text[digits];
}

void kw_escape_add_truncated(kw_text *out, const char *text, kw_escape form, size_t limit) {
    bool quoted = form == KW_ESCAPE_CSV && strpbrk(text, ",\"';\t\r\n ");
    bool formula = form == KW_ESCAPE_CSV && *text && strchr("=+-@\t\r", *text) && !is_csv_number(text);
    if (quoted || formula) {
        kw_text_add(out, formula ? "\"'" : "\"");
    }
    add_characters(out, text, form, limit);
    if (quoted || formula) {
        kw_text_add(out, "\"");
    }
}

void kw_escape_add(kw_text *out, const char *text, kw_escape form) {
    kw_escape_add_truncated(out, text, form, SIZE_MAX);
}

void kw_escape_add_url(kw_text *out, const char *bytes, size_t size) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c))) {
            kw_text_add_bytes(out, &c, 1);
        } else {
            char coded[3] = {'%', digits[c >> 4], digits[c & 15]};
            kw_text_add_bytes(out, coded, sizeof coded);
        }
    }
}

void kw_escape_quote(kw_text *out, const char *text) {
    kw_text_add(out, "'");
    for (const char *c = text; *c; c++) {
        kw_text_add_bytes(out, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    }
    kw_text_add(out, "'");
}

void kw_escape_drop(kw_text *piece, kw_text *whole) {
    whole->failed |= piece->failed;
    kw_text_drop(piece);
}
