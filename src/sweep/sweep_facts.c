/* sweep_facts.c: the facts of a run: who measured what, where, how. Hashes are of sorted texts, so that the same kernels in another order
 * have the same hash. Numbers are whole, so that no locale changes them. */
#include "sweep/sweep_facts.h"

#include "base/os/clock.h"
#include "base/os/settings.h"
#include "measure/measure.h"
#include "measure/rates/rates.h"

#include <commit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

static void copy_fact(char *to, size_t capacity, const char *from) {
    snprintf(to, capacity, "%.*s", (int)capacity - 1, from ? from : "");
}

/* 32 digits at random; where the system has none to give, time and process must do. */
static void make_id(char id[KW_HASH_TEXT]) {
    struct {
        uint64_t random[2];
        int64_t now;
        pid_t pid;
    } seed;
    memset(&seed, 0, sizeof seed);
    if (getrandom(seed.random, sizeof seed.random, 0) != sizeof seed.random) {
        seed.now = kw_clock_ns();
        seed.pid = getpid();
    }
    kw_hash_text(id, &seed, sizeof seed);
}

static int by_config_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts texts. */
static bool hash_texts(char hash[KW_HASH_TEXT], const char **texts, size_t count) {
    kw_text all = {0};
    qsort(texts, count, sizeof *texts, by_config_text);
    for (size_t i = 0; i < count; i++) {
        kw_text_addf(&all, "%s\n", texts[i]);
    }
    bool good = !all.failed;
    kw_hash_text(hash, kw_text_string(&all), all.size);
    kw_text_drop(&all);
    return good;
}

static kw_status hash_lists(kw_run *run, const kw_sweep_plan *plan, kw_error *err) {
    size_t configs = plan->manifest.configs.count, problems = plan->manifest.problems.count;
    const char **texts = calloc((configs > problems ? configs : problems) + 1, sizeof(const char *));
    char(*lines)[KW_PROBLEM_TEXT_MAX] = calloc(problems + 1, sizeof *lines);
    bool good = texts && lines;
    for (size_t i = 0; good && i < configs; i++) {
        texts[i] = plan->kernels[i].text;
    }
    good = good && hash_texts(run->pool_hash, texts, configs);
    for (size_t i = 0; good && i < problems; i++) {
        kw_problem_print(lines[i], sizeof lines[i], &plan->manifest.problems.problems[i]);
        texts[i] = lines[i];
    }
    good = good && hash_texts(run->problems_hash, texts, problems);
    free(texts);
    free(lines);
    return good ? KW_OK : kw_fail_memory(err, "the hashes of a sweep's lists");
}

/* The first word of a small file of /sys; false when there is none. */
static bool read_word(char word[32], const char *name) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpufreq/%s", name);
    FILE *file = fopen(path, "re");
    bool good = file && fscanf(file, "%31s", word) == 1;
    if (file) {
        fclose(file);
    }
    return good;
}

static void read_clocks(char *text, size_t capacity) {
    char governor[32], low[32], high[32];
    *text = 0;
    if (read_word(governor, "scaling_governor") && read_word(low, "scaling_min_freq") && read_word(high, "scaling_max_freq")) {
        snprintf(text, capacity, "governor=%s min_khz=%s max_khz=%s", governor, low, high);
    }
}

/* What is kept of the machine's cores, for who learns from the rows; measured where nothing is. */
static void add_kept_rates(kw_line *line, const kw_target *target) {
    kw_settings settings;
    kw_target known = *target;
    char text[KW_RATES_TEXT_MAX];
    if (!kw_settings_read(&settings, NULL, NULL)) {
        if (!kw_rates_recall(&known, &settings) && !settings.usual_rates) {
            kw_rates_renew(&known, &settings);
        }
        if (kw_rates_print(text, sizeof text, &known.rates)) {
            kw_line_addf(line, " %s", text);
        }
        kw_settings_drop(&settings);
    }
}

static void measure_roofs(char *text, size_t capacity, const kw_sweep_plan *plan, int threads) {
    bool wanted[KW_DTYPE_COUNT] = {false};
    kw_line line = {.data = text, .capacity = capacity};
    for (size_t i = 0; i < plan->task_count; i++) {
        wanted[plan->tasks[i].problem->dtype] |= plan->tasks[i].fit > 0;
    }
    for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
        double peak = wanted[dtype] ? kw_cpu_peak(plan->target.arch, (kw_dtype)dtype, threads) : 0;
        if (peak > 0) {
            kw_line_addf(&line, "%s=%.0f ", kw_dtype_name((kw_dtype)dtype), peak);
        }
    }
    double bandwidth = kw_cpu_bandwidth();
    if (bandwidth > 0) {
        kw_line_addf(&line, "memory=%.0f", bandwidth);
    }
    add_kept_rates(&line, &plan->target);
}

static void print_timing(char *text, size_t capacity, const kw_sweep_plan *plan, int64_t spill_limit, const kw_sweep_options *o) {
    kw_line line = {.data = text, .capacity = capacity};
    kw_line_addf(&line, "threads=%d ", o->workers.threads ? o->workers.threads : 1);
    if (o->timing.verify_only) {
        kw_line_addf(&line, "verify-only ");
    } else {
        kw_line_addf(&line, "batches=%d %s %s %s ", o->timing.batches ? o->timing.batches : 21, plan->manifest.cold ? "cold" : "hot",
                     plan->manifest.fresh_weights ? "fresh" : "packed", o->timing.exhaustive ? "exhaustive" : "halving=3");
    }
    kw_line_addf(&line, "seed=%llu", (unsigned long long)o->timing.seed);
    if (spill_limit) {
        kw_line_addf(&line, spill_limit == KW_SPILL_ANY ? " spill-limit=any" : " spill-limit=%lld", (long long)spill_limit);
    }
}

kw_status kw_sweep_fill_run(kw_run *run, const kw_sweep_plan *plan, const kw_sweep_toolchain *toolchain, const kw_sweep_options *options,
                            const char *device, kw_error *err) {
    struct utsname system;
    char started[21];
    *run = (kw_run){0};
    make_id(run->id);
    kw_clock_time(started);
    copy_fact(run->started, sizeof run->started, started);
    snprintf(run->version, sizeof run->version, "%s%s%s", kw_version(), *KW_COMMIT ? " " : "", KW_COMMIT);
    copy_fact(run->command, sizeof run->command, options->command);
    if (!uname(&system)) {
        copy_fact(run->host, sizeof run->host, system.nodename);
        snprintf(run->kernel, sizeof run->kernel, "%.30s %.60s %.30s", system.sysname, system.release, system.machine);
    }
    copy_fact(run->device, sizeof run->device, device);
    copy_fact(run->target, sizeof run->target, plan->target_text);
    copy_fact(run->compiler, sizeof run->compiler, toolchain->handle.compiler.identity);
    copy_fact(run->pool, sizeof run->pool, options->candidates);
    copy_fact(run->problems, sizeof run->problems, options->list);
    if (options->shard.count) {
        snprintf(run->shard, sizeof run->shard, "%d/%d", options->shard.index + 1, options->shard.count);
    }
    print_timing(run->options, sizeof run->options, plan, toolchain->spill_limit, options);
    read_clocks(run->clocks, sizeof run->clocks);
    if (plan->fit && !options->timing.verify_only && !kw_target_is_gpu(&plan->target)) {
        measure_roofs(run->roofs, sizeof run->roofs, plan, options->workers.threads ? options->workers.threads : 1);
    }
    return hash_lists(run, plan, err);
}
