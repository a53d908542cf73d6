/* sweep_progress.c: how far a sweep is, and what it came to. JSON is written a line at a time in one piece, so that lines of shards that
 * share a log do not mix. */
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sweep_progress_start(sweep_progress *progress, const cli_args *args) {
    *progress = (sweep_progress){.phase = ""};
    cli_bar_start(&progress->bar, args);
}

static void draw_progress(sweep_progress *progress, const kw_sweep_progress *now) {
    char rest[KW_PROBLEM_TEXT_MAX + 96], best[48] = "", time[32], failed[40] = "";
    if (now->best_ns > 0) {
        snprintf(best, sizeof best, "  best %s", cli_time(time, now->best_ns));
    }
    if (now->failed) {
        snprintf(failed, sizeof failed, "  %lld failed", (long long)now->failed);
    }
    snprintf(rest, sizeof rest, "%s%s  %s", failed, best, now->problem ? now->problem : "");
    cli_bar_draw(&progress->bar, now->phase, now->done, now->total, now->eta_s, rest);
}

static double tenths(double value) {
    return round(value * 10) / 10;
}

static double elapsed_s(const sweep_progress *progress) {
    return tenths((double)(cli_now_ns() - progress->bar.start_ns) / 1e9);
}

static void print_line(const sweep_progress *progress, const kw_sweep_progress *now) {
    cli_json json;
    cli_json_start(&json);
    cli_json_text(&json, "phase", now->phase);
    cli_json_int(&json, "done", now->done);
    cli_json_int(&json, "total", now->total);
    cli_json_int(&json, "skipped", now->skipped);
    cli_json_int(&json, "failed", now->failed);
    cli_json_real(&json, "elapsed_s", elapsed_s(progress));
    if (now->eta_s >= 0) {
        cli_json_real(&json, "eta_s", tenths(now->eta_s));
    }
    if (now->problem) {
        cli_json_text(&json, "problem", now->problem);
        cli_json_real(&json, "best_ns", tenths(now->best_ns));
    }
    cli_json_print(&json, stderr);
}

void sweep_progress_show(void *user, const kw_sweep_progress *now) {
    sweep_progress *progress = user;
    bool begins = strcmp(progress->phase, now->phase) != 0;
    bool ends = now->done >= now->total && (begins || progress->last.done < progress->last.total);
    progress->last = *now;
    snprintf(progress->phase, sizeof progress->phase, "%s", now->phase);
    if (progress->bar.quiet || (!cli_bar_due(&progress->bar) && !begins && !ends)) {
        return;
    }
    if (progress->bar.terminal) {
        draw_progress(progress, now);
    } else {
        print_line(progress, now);
    }
}

/* Remarks are rare: a kernel that did not compile, a worker that was lost, a cache that cannot be used. */
void sweep_progress_log(void *user, const char *line) {
    sweep_progress *progress = user;
    cli_bar_log(&progress->bar, line);
}

static int64_t count_rows(const kw_sweep_report *report) {
    int64_t rows = 0;
    for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
        rows += report->outcome[i];
    }
    return rows;
}

void sweep_progress_end(sweep_progress *progress, const kw_sweep_report *report) {
    cli_bar_end(&progress->bar);
    if (!progress->bar.quiet && !progress->bar.terminal) {
        cli_json json;
        cli_json_start(&json);
        cli_json_text(&json, "phase", "end");
        cli_json_int(&json, "rows", count_rows(report));
        cli_json_int(&json, "skipped", report->skipped);
        cli_json_int(&json, "left", report->outcome[KW_UNTRIED]);
        cli_json_bool(&json, "stopped", report->stopped);
        cli_json_real(&json, "elapsed_s", elapsed_s(progress));
        cli_json_print(&json, stderr);
    }
}

/* --- result ------------------------------------------------------------------------------------------------------- */

static void print_sweep_json(const sweep_result *result) {
    const kw_sweep_report *r = result->report;
    cli_json json;
    cli_json_start(&json);
    if (result->kernels) {
        cli_json_int(&json, "kernels", (int64_t)result->kernels);
        cli_json_int(&json, "problems", (int64_t)result->problems);
    }
    cli_json_int(&json, "pairs", r->pairs);
    cli_json_int(&json, "skipped", r->skipped);
    for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
        if (!result->counted || i == KW_UNFIT) {
            cli_json_int(&json, kw_outcome_name((kw_outcome)i), r->outcome[i]);
        }
    }
    cli_json_int(&json, "left", r->outcome[KW_UNTRIED]);
    if (!result->counted) {
        cli_json_bool(&json, "stopped", r->stopped);
        cli_json_bool(&json, "spent", r->spent);
        cli_json_int(&json, "built", r->built);
        cli_json_int(&json, "cached", r->cached);
        cli_json_int(&json, "workers_lost", r->workers_lost);
        cli_json_real(&json, "build_s", r->build_s);
        cli_json_real(&json, "wall_s", r->wall_s);
        cli_json_real(&json, "kernel_s", r->kernel_s);
    }
    if (result->out) {
        cli_json_text(&json, "out", result->out);
    }
    cli_json_print(&json, stdout);
}

static void print_count(int64_t count, const char *what) {
    if (count) {
        printf("%10lld  %s\n", (long long)count, cli_shown(what));
    }
}

static void print_table(const sweep_result *result) {
    const kw_sweep_report *r = result->report;
    print_count((int64_t)result->kernels, "kernels");
    print_count((int64_t)result->problems, "problems");
    printf("%10lld  pairs\n", (long long)r->pairs);
    print_count(r->skipped, "had a row already");
    for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
        print_count(r->outcome[i], kw_outcome_name((kw_outcome)i));
    }
    print_count(r->outcome[KW_UNTRIED], result->counted ? "to measure" : "left");
    if (result->counted) {
        return;
    }
    if (r->built + r->cached) {
        printf("built %lld kernels in %.1f s, %lld came from the cache\n", (long long)r->built, r->build_s, (long long)r->cached);
    }
    if (r->wall_s > 0 && r->kernel_s > 0) {
        double spent_s = r->wall_s * result->devices;
        printf("measured for %.1f s%s, of it %.1f s inside kernels: %.2f to 1\n", spent_s, result->devices > 1 ? " on all devices" : "",
               r->kernel_s, spent_s / r->kernel_s);
    }
    if (r->workers_lost) {
        printf("%lld worker processes were lost and replaced\n", (long long)r->workers_lost);
    }
    char out[1100];
    cli_shell_word(out, sizeof out, result->out);
    if (result->shards) {
        /* The shell is to see the star, so only what stands before it is quoted. */
        printf("the rows are in %s.shard-%d-of-%d.jsonl; `kwright merge --out %s %s.shard-*.jsonl` unites those of all shards\n",
               result->out, result->shard + 1, result->shards, out, out);
    } else {
        printf("the rows are in %s; `kwright report %s` shows them\n", result->out, out);
    }
}

void sweep_print(const sweep_result *result, bool json) {
    if (json) {
        print_sweep_json(result);
    } else {
        print_table(result);
    }
}
