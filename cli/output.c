/* output.c: errors, numbers, JSON strings and progress. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cli_fail(const kw_error *err) {
    if (cli_is_interrupted()) {
        return CLI_STOPPED; /* main says so */
    }
    fprintf(stderr, "kwright: %s\n", err->text[0] ? err->text : kw_status_name(err->status));
    switch (err->status) {
    case KW_OK:
        return CLI_DONE;
    case KW_MALFORMED:
    case KW_ILLEGAL:
    case KW_MISSING:
        return CLI_USAGE;
    case KW_NO_KERNEL:
    case KW_FAILED:
        return CLI_FAILED;
    case KW_IO:
    case KW_ENVIRONMENT:
    case KW_NO_MEMORY:
    case KW_STATUS_COUNT:
        break;
    }
    return CLI_ENVIRONMENT;
}

int cli_usage(const char *format, ...) {
    kw_error err = {.status = KW_MALFORMED};
    va_list arguments;
    va_start(arguments, format);
    char text[sizeof err.text];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    kw_printable(err.text, sizeof err.text, text);
    return cli_fail(&err);
}

int cli_no_memory(const char *what) {
    kw_error err = {.status = KW_NO_MEMORY};
    snprintf(err.text, sizeof err.text, "out of memory for %s; free some or ask for less", what);
    return cli_fail(&err);
}

const char *cli_shown(const char *text) {
    static char shown[4][4096];
    static unsigned next;
    next = (next + 1) % 4;
    kw_printable(shown[next], sizeof shown[next], text);
    return shown[next];
}

bool cli_names_store(const char *verb, const char *path, bool rows) {
    static const char *const others[] = {".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".json", ".json.gz", ".parquet", ".txt", ".html"};
    size_t size = path ? strlen(path) : 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t tail = strlen(others[i]);
        if (size > tail && !strcmp(path + size - tail, others[i]) && !(rows && !strcmp(others[i], ".jsonl"))) {
            cli_usage("%s writes a store (SQLite), which %.200s is not by its name; name it %.*s.db, and `kwright db export` makes CSV or "
                      "JSON lines of it",
                      verb, path, (int)(size - tail), path);
            return false;
        }
    }
    return true;
}

bool cli_reserve(void *items, size_t *capacity, size_t count, size_t size) {
    void *old, *grown;
    if (count <= *capacity) {
        return true;
    }
    size_t wanted = count + count / 2 + 16;
    memcpy(&old, items, sizeof old);
    grown = reallocarray(old, wanted, size);
    if (grown) {
        memcpy(items, &grown, sizeof grown);
        *capacity = wanted;
    }
    return grown;
}

const char *cli_time(char text[32], double ns) {
    if (ns < 1e3) {
        snprintf(text, 32, "%.0f ns", ns);
    } else if (ns < 1e6) {
        snprintf(text, 32, "%.2f us", ns / 1e3);
    } else if (ns < 1e9) {
        snprintf(text, 32, "%.2f ms", ns / 1e6);
    } else {
        snprintf(text, 32, "%.2f s", ns / 1e9);
    }
    return text;
}

static void quote(char *text, size_t capacity, const char *word) {
    size_t used = 0;
    const char *pieces[3] = {"'", "'\\''", "'"};
    used += (size_t)snprintf(text, capacity, "%s", pieces[0]);
    for (const char *c = word; *c && used + 8 < capacity; c++) {
        used += (size_t)snprintf(text + used, capacity - used, *c == '\'' ? "%s" : "%.1s", *c == '\'' ? pieces[1] : c);
    }
    snprintf(text + used, capacity - used, "%s", pieces[2]);
}

void cli_shell_word(char *text, size_t capacity, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%";
    if (*word && !word[strspn(word, plain)]) {
        snprintf(text, capacity, "%s", word);
    } else {
        quote(text, capacity, word);
    }
}

double cli_gflops(const kw_problem *problem, double ns) {
    return ns > 0 ? (double)kw_problem_flops(problem) / ns : 0;
}

int64_t cli_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The words that this process was started with, as a shell would take them. */
void cli_command(char *text, size_t capacity) {
    char words[4096];
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t size = file ? fread(words, 1, sizeof words - 1, file) : 0, used = 0;
    if (file) {
        fclose(file);
    }
    words[size] = 0;
    for (const char *word = words; word < words + size && used + 8 < capacity; word += strlen(word) + 1) {
        if (used) {
            text[used++] = ' ';
        }
        cli_shell_word(text + used, capacity - used, word);
        used += strlen(text + used);
    }
}
