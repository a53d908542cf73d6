/* settings.c: options and environment. Variables are read with secure_getenv, so that a program with raised rights ignores them. */
#include "base/os/settings.h"

#include "base/sized.h"
#include "base/os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KW_SYSTEM_WISDOM_FILE
#error KW_SYSTEM_WISDOM_FILE is the installed wisdom file; src/base/CMakeLists.txt defines it
#endif

enum { THREADS_MAX = 4096 };

static const char *const mode_names[] = {
    [KW_MODE_DEFAULT] = "default", [KW_FROZEN] = "frozen",         [KW_PREDICT] = "predict",
    [KW_SHORTLIST] = "shortlist",  [KW_EXHAUSTIVE] = "exhaustive",
};
_Static_assert(sizeof mode_names / sizeof *mode_names == KW_MODE_COUNT, "each mode has a name");

const char *kw_mode_name(kw_mode mode) {
    return (size_t)mode < KW_MODE_COUNT ? mode_names[mode] : "unknown";
}

bool kw_mode_find(kw_word name, kw_mode *mode) {
    for (int i = KW_FROZEN; i < KW_MODE_COUNT; i++) {
        if (kw_word_is(name, mode_names[i])) {
            *mode = (kw_mode)i;
            return true;
        }
    }
    return false;
}

/* A variable that is set and not empty. */
static const char *variable(const char *name) {
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

static kw_status read_threads(int32_t *threads, int32_t option, kw_error *err) {
    *threads = option;
    if (option < 0 || option > THREADS_MAX) {
        return kw_fail(err, KW_ILLEGAL, "threads=%d is not within 1..%d; use 0 for all cores", option, THREADS_MAX);
    }
    const char *text = option ? NULL : variable("KW_THREADS");
    int64_t value = 0;
    if (text && !kw_word_int((kw_word){text, strlen(text)}, 1, THREADS_MAX, &value)) {
        return kw_fail(err, KW_ILLEGAL, "KW_THREADS=%.40s is not a whole number from 1 to %d; unset it to use all cores", text,
                       THREADS_MAX);
    }
    if (text) {
        *threads = (int32_t)value;
    }
    return KW_OK;
}

kw_status kw_spill_limit_read(int64_t *limit, int32_t option, kw_error *err) {
    *limit = option;
    const char *text = option ? NULL : variable("KW_SPILL_LIMIT");
    if (text && !kw_word_int((kw_word){text, strlen(text)}, -1, INT32_MAX, limit)) {
        return kw_fail(err, KW_ILLEGAL, "KW_SPILL_LIMIT=%.40s is not a whole number of bytes; 0 allows none, -1 any number", text);
    }
    *limit = *limit < 0 ? KW_SPILL_ANY : *limit;
    return KW_OK;
}

static kw_status read_spread_limit(double *limit, kw_error *err) {
    enum { MOST = 1000000 };
    const char *text = variable("KW_SPREAD_MAX");
    int64_t percent = -1;
    if (text && !kw_word_int((kw_word){text, strlen(text)}, 0, MOST, &percent)) {
        return kw_fail(err, KW_ILLEGAL, "KW_SPREAD_MAX=%.40s is not a whole number of percent from 0 to %d; unset it for 10", text, MOST);
    }
    *limit = (double)percent / 100;
    return KW_OK;
}

static kw_status read_rates(bool *usual, kw_error *err) {
    const char *text = variable("KW_RATES");
    *usual = text && !strcmp(text, "usual");
    return !text || *usual || !strcmp(text, "measured")
               ? KW_OK
               : kw_fail(err, KW_ILLEGAL, "KW_RATES=%.40s is not known; known: measured usual", text);
}

static kw_status read_mode(kw_mode *mode, kw_error *err) {
    *mode = KW_SHORTLIST;
    const char *text = variable("KW_MODE");
    if (text && !kw_mode_find((kw_word){text, strlen(text)}, mode)) {
        char known[128];
        kw_line line = {known, sizeof known, 0};
        for (int i = KW_FROZEN; i < KW_MODE_COUNT; i++) {
            kw_line_addf(&line, " %s", mode_names[i]);
        }
        return kw_fail(err, KW_ILLEGAL, "KW_MODE=%.40s is not known; known:%s", text, known);
    }
    return KW_OK;
}

/* The option's copy, else the fallback; "" when there is neither. NULL for want of memory. */
static const char *choose_path(kw_arena *arena, const char *option, const char *fallback) {
    const char *chosen = option ? option : fallback ? fallback : "";
    return kw_arena_copy(arena, chosen, strlen(chosen));
}

static void to_standard_error(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "kernelwright: %s\n", line);
}

static kw_status read_places(kw_settings *settings, const kw_context_options *options, kw_error *err) {
    kw_arena *arena = &settings->arena;
    const char *cache = kw_folder_user(arena, "KW_CACHE_DIR", "XDG_CACHE_HOME", ".cache");
    const char *data = kw_folder_user(arena, "KW_DATA_DIR", "XDG_DATA_HOME", ".local/share");
    settings->cache = cache ? choose_path(arena, options->cache_dir, cache) : NULL;
    settings->data = data ? choose_path(arena, options->data_dir, data) : NULL;
    const char *beside = settings->data && *settings->data ? kw_arena_format(arena, "%s/wisdom.txt", settings->data) : NULL;
    const char *named = variable("KW_WISDOM");
    bool beside_known = beside || !settings->data || !*settings->data;
    settings->wisdom = beside_known ? choose_path(arena, options->wisdom_file, named ? named : beside) : NULL;
    settings->system_wisdom = choose_path(arena, variable("KW_SYSTEM_WISDOM"), KW_SYSTEM_WISDOM_FILE);
    const char *compiler = options->compiler, *cc = variable("KW_CC");
    settings->compiler = compiler ? kw_arena_copy(arena, compiler, strlen(compiler)) : NULL;
    settings->cc = cc ? kw_arena_copy(arena, cc, strlen(cc)) : NULL;
    const char *model = options->model ? options->model : secure_getenv("KW_MODEL");
    settings->model = model ? kw_arena_copy(arena, model, strlen(model)) : NULL;
    bool good = settings->cache && settings->data && settings->wisdom && settings->system_wisdom && (!compiler || settings->compiler) &&
                (!cc || settings->cc) && (!model || settings->model);
    return good ? KW_OK : kw_fail_memory(err, "the settings of a context");
}

kw_status kw_settings_read(kw_settings *settings, const kw_context_options *options, kw_error *err) {
    kw_context_options own;
    kw_status status = KW_SIZED_READ(&own, kw_context_options, user, options, err);
    if (status) {
        *settings = (kw_settings){0};
        return status;
    }
    options = &own;
    *settings = (kw_settings){.log = options->log,
                              .user = options->user,
                              .stop = options->stop,
                              .host_threads = {options->parallel_for, options->pool},
                              .host_memory = {options->allocate, options->release, options->heap}};
    if (!options->allocate != !options->release) {
        return kw_fail(err, KW_ILLEGAL, "kw_context_options: %s is NULL and %s is not; give both, or neither for the library's own memory",
                       options->allocate ? "release" : "allocate", options->allocate ? "allocate" : "release");
    }
    if (!options->log && variable("KW_LOG")) {
        settings->log = to_standard_error;
    }
    status = read_threads(&settings->threads, options->threads, err);
    status = status ? status : read_mode(&settings->mode, err);
    status = status ? status : kw_spill_limit_read(&settings->spill_limit, options->spill_limit, err);
    status = status ? status : read_spread_limit(&settings->spread_limit, err);
    status = status ? status : read_rates(&settings->usual_rates, err);
    status = status ? status : read_places(settings, options, err);
    if (status) {
        kw_settings_drop(settings);
    }
    return status;
}

void kw_settings_drop(kw_settings *settings) {
    kw_arena_drop(&settings->arena);
    *settings = (kw_settings){0};
}

void kw_log_line(const kw_settings *settings, const char *format, ...) {
    if (!settings->log) {
        return;
    }
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    settings->log(settings->user, line);
}
