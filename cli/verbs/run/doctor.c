/* doctor.c: the verb doctor: what is here, where things lie, and what will happen. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "yours, writable", or what is wrong with a folder. */
static const char *folder_state(const char *path) {
    struct stat info;
    if (!*path) {
        return "none";
    }
    if (stat(path, &info)) {
        return "not there yet; made when needed";
    }
    if (info.st_uid != geteuid()) {
        return "belongs to another user: not used";
    }
    if (info.st_mode & (S_IWGRP | S_IWOTH)) {
        return "others may write it: not used";
    }
    return access(path, W_OK) ? "not writable" : "yours, writable";
}

static void show_compilers(kw_context *context, cli_json *json) {
    static const char *const names[] = {"gcc", "clang", "cc"};
    const char *used = kw_context_compiler(context);
    if (json) {
        cli_json_text(json, "compiler", used);
        cli_json_list(json, "compilers");
    } else {
        printf("compilers  ");
    }
    int shown = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kw_context *other = NULL;
        kw_context_options options = {.size = sizeof(kw_context_options), .compiler = names[i], .cache_dir = "", .wisdom_file = ""};
        if (kw_context_open(&other, KW_DEFAULT_DEVICE, &options, NULL)) {
            continue;
        }
        const char *found = kw_context_compiler(other);
        char text[512];
        snprintf(text, sizeof text, "%s: %s", names[i], found);
        if (*found && json) {
            cli_json_text(json, NULL, text);
        } else if (*found) {
            printf("%s%s", shown++ ? " · " : "", text);
        }
        kw_context_close(&other);
    }
    if (json) {
        cli_json_end(json);
    } else {
        printf("%s\n", shown ? "" : "none");
        printf("           %s%s\n",
               *used ? "new kernels are compiled with "
                     : "without a compiler: cached kernels, else the reference ones that are compiled in",
               used);
    }
}

static void print_device(void *user, const kw_device_entry *entry) {
    cli_json *json = user; /* NULL: text */
    if (!entry->gpu) {
        return; /* shown above */
    }
    const char *const texts[][2] = {{"device", entry->device}, {"target", entry->target},     {"about", entry->about},
                                    {"none", entry->none},     {"compiler", entry->compiler}, {"no_compiler", entry->no_compiler}};
    if (json) {
        cli_json_object(json, NULL);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            cli_json_text(json, texts[i][0], texts[i][1]);
        }
        cli_json_end(json);
        return;
    }
    const char *first = *entry->target ? entry->target : *entry->about ? entry->about : entry->none;
    printf("%-10s %s%s\n", entry->device, *entry->target || *entry->about ? "" : "none: ", first);
    if (*entry->target && *entry->about) {
        printf("           %s\n", entry->about);
    }
    printf("           %s%s\n",
           *entry->compiler ? "kernels are compiled with " : "no compiler: ", *entry->compiler ? entry->compiler : entry->no_compiler);
}

/* All but the CPU. */
static void show_devices(cli_json *json) {
    if (json) {
        cli_json_list(json, "devices");
    }
    kw_devices_visit(print_device, json);
    if (json) {
        cli_json_end(json);
    }
}

static void add_roofs(kw_context *context, cli_json *json) {
    cli_json_object(json, "roofs");
    for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
        char name[32];
        double peak = kw_context_peak(context, (kw_dtype)dtype);
        snprintf(name, sizeof name, "%s_gflops", kw_dtype_name((kw_dtype)dtype));
        if (peak > 0) {
            cli_json_real(json, name, peak / 1e9);
        }
    }
    cli_json_real(json, "memory_gbs", kw_context_bandwidth(context) / 1e9);
    cli_json_end(json);
}

/* What the device does at most, by type. */
static void print_roofs(kw_context *context) {
    bool gpu = kw_context_is_gpu(context);
    double memory = kw_context_bandwidth(context);
    int shown = 0;
    printf("           ");
    for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
        double peak = kw_context_peak(context, (kw_dtype)dtype);
        if (peak > 0) {
            printf("%s%s %.*f", shown++ ? ", " : "", kw_dtype_name((kw_dtype)dtype), gpu ? 1 : 0, peak / (gpu ? 1e12 : 1e9));
        }
    }
    if (gpu) {
        printf(shown ? " TFLOP/s; memory %.0f GB/s; measured just now by the device's clock\n"
                     : "no roofs are measured: there is no device but the CPU that plays it, or no compiler for it\n",
               memory / 1e9);
    } else {
        printf(" GFLOP/s with these threads; memory %.0f GB/s by one; measured just now\n", memory / 1e9);
    }
}

/* What a core gets done, measured once and kept; nothing of a GPU. */
static void show_rates(kw_context *context, cli_json *json) {
    kw_error err = {0};
    char text[512];
    kw_status status = kw_context_rates(text, sizeof text, context, &err);
    if (json) {
        cli_json_text(json, "rates", text);
    } else if (status || *text) {
        printf("rates      %s\n           instructions and bytes that a core gets done in a nanosecond; kept in rates.txt of the data "
               "folder\n",
               status ? err.text : text);
    }
}

static void show_place(const char *what, const char *path, const char *state, const char *more, cli_json *json) {
    if (json) {
        cli_json_text(json, what, path);
    } else {
        printf("%-10s %s (%s%s%s)\n", what, *path ? cli_shown(path) : "-", state, *more ? "; " : "", more);
    }
}

static void show_target(kw_context *context, const char *device, cli_json *json) {
    if (json) {
        cli_json_text(json, "version", kw_version());
        cli_json_text(json, "target", kw_context_target(context));
        add_roofs(context, json);
        show_rates(context, json);
    } else {
        printf("kwright    %s\n%-10s %s\n           %s\n", kw_version(), device, kw_context_target(context), kw_context_device(context));
        print_roofs(context);
        show_rates(context, NULL);
    }
}

int verb_doctor(const cli_args *args) {
    kw_error err = {0};
    kw_context *context = NULL;
    kw_paths places = {0};
    cli_json object = {0}, *json = args->value[OPT_JSON] ? &object : NULL;
    int code = cli_context(&context, args);
    if (code) {
        return code;
    }
    if (kw_context_paths(&places, context, &err)) {
        code = cli_fail(&err);
    } else {
        char kernels[96];
        if (json) {
            cli_json_start(json);
        }
        snprintf(kernels, sizeof kernels, "%lld kernels, %.1f MB", (long long)places.cache_entries, (double)places.cache_bytes / 1e6);
        show_target(context, args->value[OPT_DEVICE] ? args->value[OPT_DEVICE] : KW_DEFAULT_DEVICE, json);
        show_compilers(context, json);
        show_devices(json);
        code = cli_show_models(context, json);
        show_place("cache", places.cache, folder_state(places.cache), *places.cache_note ? places.cache_note : kernels, json);
        show_place("data", places.data, folder_state(places.data), "", json);
        show_place("wisdom", places.wisdom, folder_state(places.wisdom), "", json);
        show_place("system", places.system_wisdom, access(places.system_wisdom, R_OK) ? "none there" : "there", "only read", json);
        if (json) {
            cli_json_int(json, "cache_kernels", places.cache_entries);
            cli_json_print(json, stdout);
        }
    }
    kw_context_close(&context);
    return code;
}
