/* doctor_models.c: which models there are, how far from this machine their training was, and which of them dispatch would ask. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PAIRS_TEXT = 512 };

typedef struct listing {
    cli_json *json; /* NULL: text */
    int shown;
    bool asked[KW_OP_COUNT][KW_DTYPE_COUNT];
} listing;

/* "conv_fwd fp32 bf16, gemm fp32" */
static const char *pairs_text(char text[PAIRS_TEXT], const bool pairs[KW_OP_COUNT][KW_DTYPE_COUNT]) {
    int ops = 0;
    size_t used = 0;
    *text = 0;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        int types = 0;
        for (int dtype = 0; dtype < KW_DTYPE_COUNT && used < PAIRS_TEXT; dtype++) {
            if (pairs[op][dtype]) {
                const char *name = types++ ? "" : kw_op_name((kw_op)op), *comma = *name && ops++ ? ", " : "";
                used += (size_t)snprintf(text + used, PAIRS_TEXT - used, "%s%s %s", comma, name, kw_dtype_name((kw_dtype)dtype));
            }
        }
    }
    return text;
}

static bool any(const bool pairs[KW_OP_COUNT][KW_DTYPE_COUNT]) {
    for (int i = 0; i < KW_OP_COUNT * KW_DTYPE_COUNT; i++) {
        if (pairs[i / KW_DTYPE_COUNT][i % KW_DTYPE_COUNT]) {
            return true;
        }
    }
    return false;
}

static const char *distance_words(int distance) {
    static const char *const words[] = {
        "trained on this very target", "trained on another processor, cache or number of threads of this architecture",
        "trained on another architecture with vectors as wide", "trained on another architecture of this kind"};
    return distance >= 0 && distance < 4 ? words[distance] : "trained for another kind of device: never asked here";
}

static const char *date_text(char text[32], int64_t written) {
    time_t at = (time_t)written;
    struct tm day;
    if (!written || !gmtime_r(&at, &day) || !strftime(text, 32, "%Y-%m-%d", &day)) {
        *text = 0;
    }
    return text;
}

static void print_model_text(const listing *l, const kw_model_info *m) {
    char date[32], serves[PAIRS_TEXT], asked[PAIRS_TEXT];
    printf("%-10s %s (%s", l->shown ? "" : "models", m->name, *m->folder ? m->folder : "compiled in");
    if (*m->folder && m->written) {
        printf(", written %s", date_text(date, m->written));
    }
    printf(")\n");
    if (*m->fault) {
        printf("             not used: %s\n", m->fault);
        return;
    }
    printf("             %s (distance %d)%s\n", distance_words(m->distance), (int)m->distance,
           m->distance > 0 ? "; half of what it says against the estimate counts" : "");
    for (const char *const *target = m->targets; *target; target++) {
        printf("             %s %s\n", target == m->targets ? "from" : " and", *target);
    }
    printf("             %lld rows of %lld problems; %.0f kB, in memory %.0f kB; serves %s\n", (long long)m->rows, (long long)m->problems,
           (double)m->file_bytes / 1e3, (double)m->memory_bytes / 1e3, pairs_text(serves, m->serves));
    printf("             %s%s\n",
           any(m->asked) ? "asked here for " : "not asked here: a nearer one, or one that comes before it, serves the same",
           pairs_text(asked, m->asked));
}

static void add_model(cli_json *json, const kw_model_info *m) {
    char date[32], serves[PAIRS_TEXT], asked[PAIRS_TEXT];
    cli_json_object(json, NULL);
    cli_json_text(json, "name", m->name);
    cli_json_text(json, "folder", m->folder);
    cli_json_int(json, "distance", m->distance);
    cli_json_int(json, "rows", m->rows);
    cli_json_int(json, "problems", m->problems);
    cli_json_int(json, "file_bytes", m->file_bytes);
    cli_json_int(json, "memory_bytes", m->memory_bytes);
    cli_json_text(json, "written", date_text(date, m->written));
    cli_json_text(json, "serves", pairs_text(serves, m->serves));
    cli_json_text(json, "asked", pairs_text(asked, m->asked));
    cli_json_list(json, "targets");
    for (const char *const *target = m->targets; *target; target++) {
        cli_json_text(json, NULL, *target);
    }
    cli_json_end(json);
    cli_json_text(json, "fault", m->fault);
    cli_json_end(json);
}

static void show_model(void *user, const kw_model_info *m) {
    listing *l = user;
    if (l->json) {
        add_model(l->json, m);
    } else {
        print_model_text(l, m);
    }
    l->shown++;
    for (int i = 0; i < KW_OP_COUNT * KW_DTYPE_COUNT; i++) {
        l->asked[i / KW_DTYPE_COUNT][i % KW_DTYPE_COUNT] |= m->asked[i / KW_DTYPE_COUNT][i % KW_DTYPE_COUNT];
    }
}

int cli_show_models(kw_context *context, cli_json *json) {
    listing l = {.json = json};
    kw_error err = {0};
    if (json) {
        cli_json_list(json, "models");
    }
    kw_status status = kw_models_visit(context, show_model, &l, &err);
    if (json) {
        cli_json_end(json);
    } else if (!l.shown) {
        printf("models     none; the analytic estimate answers (train one: kwright sweep, then kwright train)\n");
    } else if (!any(l.asked)) {
        printf("             no model answers here; the analytic estimate does\n");
    } else {
        printf("             elsewhere the analytic estimate answers\n");
    }
    return status ? cli_fail(&err) : CLI_DONE;
}
