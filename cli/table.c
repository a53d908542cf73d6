/* table.c: tables and texts on terminals that are narrower than they are: words are not broken, and kernels are called by what sets them
 * apart. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t cli_columns(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

void cli_print_wrapped(size_t column, size_t hang, size_t most, const char *text, size_t size) {
    static const char blanks[] = " \n";
    for (const char *at = text, *end = text + size; at < end;) {
        size_t gap = strspn(at, blanks), length = strcspn(at + gap, blanks);
        bool first = !gap && at == text;
        at += gap;
        length = at >= end ? 0 : length > (size_t)(end - at) ? (size_t)(end - at) : length;
        if (!length) {
            break;
        }
        if (!first && column + 1 + length > most) {
            printf("\n%*s", (int)hang, "");
            column = hang;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)length, at);
        column += length;
        at += length;
    }
    putchar('\n');
}

static bool has_word(const char *text, const char *word, size_t size) {
    for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
        if (strcspn(text, " ") == size && !memcmp(text, word, size)) {
            return true;
        }
    }
    return false;
}

bool cli_same_family(const char *a, const char *b) {
    size_t size = strcspn(a, " ");
    return strcspn(b, " ") == size && !memcmp(a, b, size);
}

static bool is_shared(const char *word, size_t size, const char *config, const kw_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (cli_same_family(config, records[i].config) && !has_word(records[i].config, word, size)) {
            return false;
        }
    }
    return true;
}

void cli_config_words(char *text, size_t capacity, const char *config, const kw_record *records, size_t count, bool shared) {
    size_t size = strcspn(config, " "), used = (size_t)snprintf(text, capacity, "%.*s", (int)size, config);
    for (const char *word = config + size; *(word += strspn(word, " ")); word += size) {
        size = strcspn(word, " ");
        if (used < capacity && is_shared(word, size, config, records, count) == shared) {
            used += (size_t)snprintf(text + used, capacity - used, " %.*s", (int)size, word);
        }
    }
}
