/* markup.c: a reader of tags with a list of what may be there. */
#include "markup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, NAME = 32 };

static const char elements[] =
    " html head meta title style body h1 h2 h3 nav a pre section p figure figcaption svg path text script details summary "
    "div table thead tbody tr th td span b code ";
static const char attributes[] =
    " lang charset http-equiv content name nonce href id class viewBox role aria-label d x y text-anchor transform "
    "type download colspan ";

static bool is_listed(const char *list, const char *name) {
    char padded[NAME + 2];
    snprintf(padded, sizeof padded, " %s ", name);
    return strstr(list, padded) != NULL;
}

static const char *read_name(const char *at, char name[NAME]) {
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    snprintf(name, NAME, "%.*s", (int)length, at);
    return at + length;
}

static bool is_good_address(const char *value) {
    return value[0] == '#' || !strncmp(value, "data:text/csv;charset=utf-8,", 28);
}

/* name="value" pairs up to the end of the tag. */
static const char *read_attributes(const char *at, char reason[256]) {
    char name[NAME];
    while (*(at += strspn(at, " \n")) && *at != '>' && *at != '/') {
        const char *start = at;
        at = read_name(at, name);
        if (!is_listed(attributes, name) || strncmp(at, "=\"", 2) != 0) {
            snprintf(reason, 256, "attribute: %.200s", start);
            return NULL;
        }
        const char *value = at + 2;
        at = value + strcspn(value, "\"<");
        if (*at != '"' || (!strcmp(name, "href") && !is_good_address(value))) {
            snprintf(reason, 256, "value: %.200s", start);
            return NULL;
        }
        at++;
    }
    return at;
}

typedef struct reader {
    char open[DEPTH][NAME];
    int depth;
} reader;

static const char *read_tag(reader *state, const char *at, char reason[256]) {
    char name[NAME];
    const char *start = at;
    bool closing = at[1] == '/';
    at = read_name(at + 1 + closing, name);
    if (closing) {
        if (!state->depth || strcmp(state->open[--state->depth], name) != 0 || *at != '>') {
            snprintf(reason, 256, "closes what is not open: %.200s", start);
            return NULL;
        }
        return at + 1;
    }
    if (!is_listed(elements, name)) {
        snprintf(reason, 256, "element: %.200s", start);
        return NULL;
    }
    at = read_attributes(at, reason);
    if (!at) {
        return NULL;
    }
    bool raw = !strcmp(name, "script") || !strcmp(name, "style");
    if (raw) {
        char end[NAME + 4];
        snprintf(end, sizeof end, "</%s>", name);
        at = strstr(at, end);
        return at ? at + strlen(end) : NULL;
    }
    if (*at == '/') {
        return at + 2;
    }
    if (*at != '>' || state->depth == DEPTH) {
        snprintf(reason, 256, "tag: %.200s", start);
        return NULL;
    }
    if (strcmp(name, "meta") != 0) {
        memcpy(state->open[state->depth++], name, sizeof name);
    }
    return at + 1;
}

bool markup_is_sound(const char *page, char reason[256]) {
    reader state = {.depth = 0};
    static const char type[] = "<!DOCTYPE html>\n";
    snprintf(reason, 256, "an element has no end");
    if (strncmp(page, type, sizeof type - 1) != 0) {
        snprintf(reason, 256, "document type");
        return false;
    }
    for (const char *at = page + sizeof type - 1; *at;) {
        if (*at == '<') {
            at = read_tag(&state, at, reason);
            if (!at) {
                return false;
            }
        } else if (*at == '>' || ((unsigned char)*at < ' ' && *at != '\n')) {
            snprintf(reason, 256, "character %02x before: %.200s", (unsigned char)*at, at);
            return false;
        } else {
            at++;
        }
    }
    return state.depth == 0;
}
