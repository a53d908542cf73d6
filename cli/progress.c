/* progress.c: how far the work is, on standard error: one bar for all verbs, redrawn on a terminal, never wider than it. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const int64_t redraw_ns = 50000000, line_ns = 2000000000;

/* A line that is as wide as the terminal would go on in the next one, which cannot be redrawn. */
static int columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2 ? 79 : size.ws_col - 1;
}

/* "1:02:03 left", or nothing while it is not known. */
static void left_text(char text[40], double left_s) {
    *text = 0;
    if (left_s >= 0 && left_s < 1e8) {
        long long s = (long long)left_s;
        snprintf(text, 40, s < 3600 ? "  %lld:%02lld left" : "  %lld:%02lld:%02lld left", s < 3600 ? s / 60 : s / 3600,
                 s < 3600 ? s % 60 : s / 60 % 60, s % 60);
    }
}

bool cli_bar_due(cli_bar *bar) {
    int64_t now = cli_now_ns();
    if (now - bar->shown_ns < (bar->terminal ? redraw_ns : line_ns)) {
        return false;
    }
    bar->shown_ns = now;
    return true;
}

void cli_bar_start(cli_bar *bar, const cli_args *args) {
    *bar = (cli_bar){.quiet = args->value[OPT_QUIET] != NULL, .terminal = isatty(STDERR_FILENO) == 1, .start_ns = cli_now_ns()};
    bar->shown_ns = bar->start_ns;
}

void cli_bar_draw(cli_bar *bar, const char *what, int64_t done, int64_t total, double left_s, const char *rest) {
    enum { WIDE = 26 };
    char line[1024], left[40], gauge[WIDE + 5] = "";
    if (bar->quiet || !bar->terminal) {
        return;
    }
    if (total > 0) {
        size_t filled = (size_t)(done >= total ? WIDE : WIDE * done / total);
        memset(gauge, ' ', WIDE + 4);
        memset(gauge + 1, '=', filled);
        gauge[0] = '[', gauge[1 + filled] = '>', gauge[WIDE + 2] = ']', gauge[WIDE + 4] = 0;
    }
    left_text(left, left_s);
    snprintf(line, sizeof line, "%s%s %lld/%lld%s%s", gauge, what, (long long)done, (long long)total, left, rest);
    fprintf(stderr, "\r%.*s\033[K", columns(), line);
    bar->drawn = true;
}

void cli_bar_end(cli_bar *bar) {
    if (bar->drawn) {
        fprintf(stderr, "\r\033[K");
        bar->drawn = false;
    }
}

void cli_bar_log(void *user, const char *line) {
    cli_bar *bar = user;
    if (!bar->quiet) {
        cli_bar_end(bar);
        fprintf(stderr, "kwright: %s\n", cli_shown(line));
    }
}

/* --- of compiling and measuring in this process ------------------------------------------------------------------------ */

void cli_progress_start(cli_progress *progress, const cli_args *args, const kw_problem *problem) {
    *progress = (cli_progress){.problem = problem};
    cli_bar_start(&progress->bar, args);
}

void cli_progress_show(void *user, const kw_progress *now) {
    cli_progress *progress = user;
    cli_bar *bar = &progress->bar;
    if (bar->quiet || !now->total || !cli_bar_due(bar)) {
        return;
    }
    double spent_s = (double)(cli_now_ns() - bar->start_ns) / 1e9;
    double left_s = now->done ? spent_s * (double)(now->total - now->done) / (double)now->done : -1;
    char rest[96], best[40] = "", failed[32] = "";
    if (progress->problem && now->best_ns > 0) {
        snprintf(best, sizeof best, "  best %.1f GFLOP/s", cli_gflops(progress->problem, now->best_ns));
    }
    if (now->failed) {
        snprintf(failed, sizeof failed, "  %zu failed", now->failed);
    }
    snprintf(rest, sizeof rest, "%s%s", best, failed);
    if (bar->terminal) {
        cli_bar_draw(bar, now->what, (int64_t)now->done, (int64_t)now->total, left_s, rest);
    } else {
        char left[40];
        left_text(left, left_s);
        fprintf(stderr, "%s %zu/%zu%s%s\n", now->what, now->done, now->total, left, rest);
    }
}

void cli_progress_end(cli_progress *progress) {
    cli_bar_end(&progress->bar);
}
