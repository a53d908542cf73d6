/* settings.h: what the caller and the environment ask for, as a value that never changes after kw_context_open. */
#ifndef KW_BASE_OS_SETTINGS_H
#define KW_BASE_OS_SETTINGS_H

#include "base/container/arena.h"
#include "base/os/host.h"
#include "base/status.h"
#include "base/text.h"

/* A spill limit that nothing is above. */
#define KW_SPILL_ANY INT64_MAX

/* Places are "" where there is none. */
typedef struct kw_settings {
    kw_arena arena;  /* of the strings */
    int32_t threads; /* 0: all cores of the process */
    kw_mode mode;    /* never KW_MODE_DEFAULT */
    const char *cache, *data, *wisdom, *system_wisdom;
    const char *compiler; /* "": use none; NULL: look for one */
    const char *cc;       /* KW_CC: the C compiler where compiler is NULL; NULL: look for one */
    const char *model;    /* a folder; "": use none; NULL: look for some */
    int64_t spill_limit;  /* bytes, for kw_resources_check */
    const kw_stop *stop;  /* may be NULL */
    double spread_limit;  /* a share: times that spread more are no facts; below 0: KW_SPREAD_MAX does not say */
    bool usual_rates;     /* KW_RATES=usual: a core's rates are neither read nor measured, and the stated defaults stand */
    void (*log)(void *user, const char *line);
    void *user;
    kw_host_threads host_threads;
    kw_host_memory host_memory;
} kw_settings;

/* Reads the environment, once; an option beats its variable. A variable without sense is KW_ILLEGAL and named. */
kw_status kw_settings_read(kw_settings *settings, const kw_context_options *options, kw_error *err);
void kw_settings_drop(kw_settings *settings);

/* Bytes that a thread may spill: the option, else KW_SPILL_LIMIT, else none; KW_SPILL_ANY where it is below 0. */
kw_status kw_spill_limit_read(int64_t *limit, int32_t option, kw_error *err);

/* Hands one line to the log; nothing where nobody listens. */
void kw_log_line(const kw_settings *settings, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "shortlist" and the like; "unknown" for a value outside. */
const char *kw_mode_name(kw_mode mode);
/* false when no mode has this name. */
bool kw_mode_find(kw_word name, kw_mode *mode);

#endif
