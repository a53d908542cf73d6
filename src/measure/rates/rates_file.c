/* rates_file.c: rates kept in the user's data folder. */
#include "measure/rates/rates.h"

#include "backend/backend.h"
#include "base/os/clock.h"
#include "base/os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char header[] = "# kernelwright rates 1";
enum { FILE_LIMIT = 1 << 20, LOOKS_MOST = 1000000, LOOKS_APART_S = 60 };

/* What a machine's line begins with. The threads in use are no part of it: they change nothing about a core. */
static void print_machine(char text[128], const kw_target *target) {
    snprintf(text, 128, "%s %s ", target->arch, target->model);
}

static const char *print_path(kw_arena *arena, const kw_settings *settings) {
    return settings->data && *settings->data ? kw_arena_format(arena, "%s/rates.txt", settings->data) : NULL;
}

/* Where the line is of this processor model, by whatever architecture, takes up the levels of memory: they are read alike for all. */
static void take_levels(kw_rates *levels, kw_word line, const kw_target *target) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word arch, model;
    kw_rates rates = {0};
    if (kw_scan_word(&scan, &arch) && kw_scan_word(&scan, &model) && kw_word_is(model, target->model) &&
        kw_rates_parse(&rates, (kw_word){scan.at, (size_t)(scan.end - scan.at)})) {
        const kw_rates seen = {.l2 = rates.l2, .l3 = rates.l3, .l3_full = rates.l3_full, .ram = rates.ram, .ram_all = rates.ram_all};
        kw_rates_raise(levels, &seen);
    }
}

/* How often the machine of a line was measured: the number behind "looks=", 1 where none is told. */
static int looks_of(kw_word text) {
    static const char name[] = "looks=";
    enum { NAME = sizeof name - 1 };
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word;
    int64_t looks = 1;
    while (kw_scan_word(&scan, &word)) {
        if (kw_word_starts(word, name)) {
            kw_word_int((kw_word){word.at + NAME, word.size - NAME}, 1, LOOKS_MOST, &looks);
        }
    }
    return (int)looks;
}

int kw_rates_recall(kw_target *target, const kw_settings *settings) {
    kw_arena arena = {0};
    char machine[128], *data;
    size_t size;
    int looks = 0;
    kw_rates levels = {0};
    print_machine(machine, target);
    const char *path = settings->usual_rates ? NULL : print_path(&arena, settings);
    kw_word line;
    if (path && !kw_target_is_gpu(target) && !kw_file_read(&arena, path, FILE_LIMIT, &data, &size, NULL)) {
        kw_scan scan = {data, data + size};
        bool ours = kw_scan_line(&scan, &line) && kw_word_is(line, header);
        while (ours && kw_scan_line(&scan, &line)) {
            kw_rates rates = {0};
            size_t skip = strlen(machine);
            take_levels(&levels, line, target);
            if (kw_word_starts(line, machine) && kw_rates_parse(&rates, (kw_word){line.at + skip, line.size - skip})) {
                target->rates = rates; /* the last line counts */
                looks = looks_of(line);
            }
        }
    }
    if (looks) {
        kw_rates_raise(&target->rates, &levels);
        kw_rates_order(&target->rates);
    }
    kw_arena_drop(&arena);
    return looks;
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
    kw_target kept = *target;
    int looks = kw_rates_recall(&kept, settings) + 1;
    print_machine(machine, target);
    const char *path = print_path(&arena, settings);
    kw_status status =
        path ? kw_folder_make(settings->data, err) : kw_fail(err, KW_ENVIRONMENT, "there is no data folder; set KW_DATA_DIR");
    kw_text_addf(&text, "%s\n", header);
    status = status ? status : add_others(&text, path, machine, err);
    if (!status) {
        kw_rates_print(rates, sizeof rates, &target->rates);
        kw_text_addf(&text, "%s%s", machine, rates);
        kw_text_addf(&text, looks > 1 ? " looks=%d\n" : "\n", looks);
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

/* Whether the file was written just now: what disturbs the machine may last, and a look in the same phase says nothing new. */
static bool is_just_kept(const kw_settings *settings) {
    kw_arena arena = {0};
    struct stat facts;
    const char *path = print_path(&arena, settings);
    bool just = path && !stat(path, &facts) && llabs((long long)(time(NULL) - facts.st_mtime)) < LOOKS_APART_S;
    kw_arena_drop(&arena);
    return just;
}

void kw_rates_learn(kw_target *target, const kw_settings *settings) {
    char text[KW_RATES_TEXT_MAX];
    int looks = kw_target_is_gpu(target) ? KW_RATES_LOOKS : kw_rates_recall(target, settings);
    if (looks >= KW_RATES_LOOKS || (looks && is_just_kept(settings))) {
        return;
    }
    kw_rates known = looks ? target->rates : (kw_rates){0};
    int64_t begin = kw_clock_ns();
    kw_rates_measure(target, KW_RATES_CORE);
    kw_rates_raise(&target->rates, &known);
    if (kw_rates_print(text, sizeof text, &target->rates)) { /* a processor without these loops has none */
        kw_log_line(settings, "the rates of this machine, measured in %.0f ms: %s", (double)(kw_clock_ns() - begin) / 1e6, text);
        keep_or_tell(target, settings);
        kw_rates_recall(target, settings); /* with what other architectures' lines say of memory */
    }
}
