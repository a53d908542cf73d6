/* doctor_models.c: which models there are, how far from this machine their training was, and which of them dispatch would ask. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct listing {
    bool json;
    int shown;
    bool asked[KW_OP_COUNT][KW_DTYPE_COUNT];
} listing;

/* "conv_fwd fp32 bf16, gemm fp32" */
static void print_pairs(const bool pairs[KW_OP_COUNT][KW_DTYPE_COUNT]) {
    int ops = 0;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        int types = 0;
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            if (pairs[op][dtype] && !types++) {
                printf("%s%s", ops++ ? ", " : "", kw_op_name((kw_op)op));
            }
            if (pairs[op][dtype]) {
                printf(" %s", kw_dtype_name((kw_dtype)dtype));
            }
        }
    }
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

static void print_date(int64_t written) {
    time_t at = (time_t)written;
    struct tm day;
    char text[32];
    if (written && gmtime_r(&at, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day)) {
        printf("%s", text);
    }
}

static void print_model_text(const listing *l, const kw_model_info *m) {
    printf("%-10s %s (%s", l->shown ? "" : "models", m->name, *m->folder ? m->folder : "compiled in");
    if (*m->folder && m->written) {
        printf(", written ");
        print_date(m->written);
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
    printf("             %lld rows of %lld problems; %.0f kB, in memory %.0f kB; serves ", (long long)m->rows, (long long)m->problems,
           (double)m->file_bytes / 1e3, (double)m->memory_bytes / 1e3);
    print_pairs(m->serves);
    printf("\n             %s",
           any(m->asked) ? "asked here for " : "not asked here: a nearer one, or one that comes before it, serves the same");
    print_pairs(m->asked);
    printf("\n");
}

static void print_model_json(const listing *l, const kw_model_info *m) {
    printf("%s{\"name\": ", l->shown ? ", " : "");
    cli_json_string(m->name);
    printf(", \"folder\": ");
    cli_json_string(m->folder);
    printf(", \"distance\": %d, \"rows\": %lld, \"problems\": %lld, \"file_bytes\": %lld, \"memory_bytes\": %lld, \"written\": \"",
           (int)m->distance, (long long)m->rows, (long long)m->problems, (long long)m->file_bytes, (long long)m->memory_bytes);
    print_date(m->written);
    printf("\", \"serves\": \"");
    print_pairs(m->serves);
    printf("\", \"asked\": \"");
    print_pairs(m->asked);
    printf("\", \"targets\": [");
    for (const char *const *target = m->targets; *target; target++) {
        printf("%s", target == m->targets ? "" : ", ");
        cli_json_string(*target);
    }
    printf("], \"fault\": ");
    cli_json_string(m->fault);
    printf("}");
}

static void show_model(void *user, const kw_model_info *m) {
    listing *l = user;
    l->json ? print_model_json(l, m) : print_model_text(l, m);
    l->shown++;
    for (int i = 0; i < KW_OP_COUNT * KW_DTYPE_COUNT; i++) {
        l->asked[i / KW_DTYPE_COUNT][i % KW_DTYPE_COUNT] |= m->asked[i / KW_DTYPE_COUNT][i % KW_DTYPE_COUNT];
    }
}

int cli_show_models(kw_context *context, bool json) {
    listing l = {.json = json};
    kw_error err = {0};
    if (json) {
        printf("\"models\": [");
    }
    kw_status status = kw_models_visit(context, show_model, &l, &err);
    if (json) {
        printf("], ");
    } else if (!l.shown) {
        printf("models     none; the analytic estimate answers (train one: kwright sweep, then kwright train)\n");
    } else if (!any(l.asked)) {
        printf("             no model answers here; the analytic estimate does\n");
    } else {
        printf("             elsewhere the analytic estimate answers\n");
    }
    return status ? cli_fail(&err) : CLI_DONE;
}
