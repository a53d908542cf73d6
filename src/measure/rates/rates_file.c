/* rates_file.c: rates kept in the user's data folder. */
#include "measure/rates/rates.h"

#include "backend/backend.h"
#include "base/os/clock.h"
#include "base/os/file.h"

#include <stdio.h>
#include <string.h>

static const char header[] = "# kernelwright rates 1";
enum { FILE_LIMIT = 1 << 20, LINE_MAX = KW_RATES_TEXT_MAX + 128 };

/* What a machine's line begins with. The threads in use are no part of it: they change nothing about a core. */
static void print_machine(char text[128], const kw_target *target) {
    snprintf(text, 128, "%s %s ", target->arch, target->model);
}

static const char *print_path(kw_arena *arena, const kw_settings *settings) {
    return settings->data && *settings->data ? kw_arena_format(arena, "%s/rates.txt", settings->data) : NULL;
}

bool kw_rates_recall(kw_target *target, const kw_settings *settings) {
    kw_arena arena = {0};
    char machine[128], *data;
    size_t size;
    bool found = false;
    print_machine(machine, target);
    const char *path = settings->usual_rates ? NULL : print_path(&arena, settings);
    kw_word line;
    if (path && !kw_target_is_gpu(target) && !kw_file_read(&arena, path, FILE_LIMIT, &data, &size, NULL)) {
        kw_scan scan = {data, data + size};
        bool ours = kw_scan_line(&scan, &line) && kw_word_is(line, header);
        while (ours && kw_scan_line(&scan, &line)) {
            kw_rates rates = {0};
            size_t skip = strlen(machine);
            if (kw_word_starts(line, machine) && kw_rates_parse(&rates, (kw_word){line.at + skip, line.size - skip})) {
                target->rates = rates; /* the last line counts */
                found = true;
            }
        }
    }
    kw_arena_drop(&arena);
    return found;
}

/* The file's lines but the machine's own; another version's file is not touched. */
static kw_status add_others(kw_text *text, const char *path, const char *machine, kw_error *err) {
    kw_arena arena = {0};
    char *data;
    size_t size;
    kw_word line;
    kw_status status = KW_OK;
    if (!kw_file_read(&arena, path, FILE_LIMIT, &data, &size, NULL)) {
        kw_scan scan = {data, data + size};
        if (!kw_scan_line(&scan, &line) || !kw_word_is(line, header)) {
            status = kw_fail(err, KW_MALFORMED, "%s: the first line is not \"%s\"; remove the file and its rates are measured anew", path,
                             header);
        }
        while (!status && kw_scan_line(&scan, &line)) {
            if (!kw_word_starts(line, machine)) {
                kw_text_add_bytes(text, line.at, line.size);
                kw_text_add(text, "\n");
            }
        }
    }
    kw_arena_drop(&arena);
    return status;
}

kw_status kw_rates_keep(const kw_target *target, const kw_settings *settings, kw_error *err) {
    kw_arena arena = {0};
    kw_text text = {0};
    char machine[128], rates[KW_RATES_TEXT_MAX];
    print_machine(machine, target);
    const char *path = print_path(&arena, settings);
    kw_status status =
        path ? kw_folder_make(settings->data, err) : kw_fail(err, KW_ENVIRONMENT, "there is no data folder; set KW_DATA_DIR");
    kw_text_addf(&text, "%s\n", header);
    status = status ? status : add_others(&text, path, machine, err);
    if (!status) {
        kw_rates_print(rates, sizeof rates, &target->rates);
        kw_text_addf(&text, "%s%s\n", machine, rates);
        status = text.failed ? kw_fail_memory(err, "the rates") : kw_file_replace(path, text.data, text.size, 0644, err);
    }
    kw_text_drop(&text);
    kw_arena_drop(&arena);
    return status;
}

static void keep_or_tell(const kw_target *target, const kw_settings *settings) {
    kw_error err = {0};
    if (kw_rates_keep(target, settings, &err)) {
        kw_log_line(settings, "the rates of this machine were measured and could not be kept: %s", err.text);
    }
}

void kw_rates_renew(kw_target *target, const kw_settings *settings) {
    if (kw_target_is_gpu(target)) {
        return;
    }
    kw_target kept = *target;
    kw_rates_measure(target, KW_RATES_ALL);
    if (kw_rates_recall(&kept, settings)) {
        kw_rates_raise(&target->rates, &kept.rates);
    }
    keep_or_tell(target, settings);
}

void kw_rates_learn(kw_target *target, const kw_settings *settings) {
    char text[KW_RATES_TEXT_MAX];
    if (kw_target_is_gpu(target) || kw_rates_recall(target, settings)) {
        return;
    }
    int64_t begin = kw_clock_ns();
    kw_rates_measure(target, KW_RATES_CORE);
    if (kw_rates_print(text, sizeof text, &target->rates)) { /* a processor without these loops has none */
        kw_log_line(settings, "the rates of this machine, measured in %.0f ms: %s", (double)(kw_clock_ns() - begin) / 1e6, text);
        keep_or_tell(target, settings);
    }
}
