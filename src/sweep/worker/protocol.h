/* protocol.h: what a client and its worker say to each other, one line each. docs/measuring/workers.md has the grammar.
 *
 *     to the worker                              from the worker
 *     problem PROBLEM                            hello 1 VERSION     \
 *     option NAME VALUE                          target TARGET        | once
 *     control KEY PROBLEM | CONFIG               device NAME          |
 *     kernel INDEX KEY CONFIG                    ready               /
 *     go                                         record INDEX FIELD=VALUE ... detail=TEXT
 *                                                control drift=VALUE FIELD=VALUE ... detail=TEXT
 *                                                done kernel_ns=VALUE
 *                                                error TEXT
 *
 * Every field stands there exactly once, in kw_record's names. KEY is "-" where there is none. A number reads back exactly as it was,
 * whatever the locale. Whatever breaks a rule is KW_MALFORMED with the reason; any bytes may be read. */
#ifndef KW_SWEEP_WORKER_PROTOCOL_H
#define KW_SWEEP_WORKER_PROTOCOL_H

#include "sweep/worker/worker_client.h"

enum { KW_PROTOCOL = 1 };

/* --- jobs --- */

void kw_job_print(kw_text *text, const kw_worker_job *job);

typedef struct kw_job_line_kernel {
    kw_config config;
    char key[KW_CACHE_KEY_MAX + 1];
} kw_job_line_kernel;

/* A job under way; zeroed at first. job points into the rest and is whole once complete is set. */
typedef struct kw_job_reader {
    kw_worker_job job;
    bool complete, has_problem, has_control;
    kw_problem problem, control_problem;
    kw_job_line_kernel control, *kernels;
    kw_worker_job_kernel *list;
    size_t count, capacity;
} kw_job_reader;

/* After an error the reader is good for kw_job_drop alone. */
kw_status kw_job_read(kw_job_reader *reader, kw_word line, kw_error *err);
void kw_job_drop(kw_job_reader *reader);

/* --- answers --- */

typedef enum kw_answer_kind {
    KW_ANSWER_HELLO = 0, /* number, text */
    KW_ANSWER_TARGET,    /* text */
    KW_ANSWER_DEVICE,    /* text */
    KW_ANSWER_READY,
    KW_ANSWER_RECORD,  /* number, record but its config */
    KW_ANSWER_CONTROL, /* value is the drift, record */
    KW_ANSWER_DONE,    /* value is kernel_ns */
    KW_ANSWER_ERROR,   /* text */
    KW_ANSWER_COUNT
} kw_answer_kind;

typedef struct kw_answer {
    kw_answer_kind kind;
    int64_t number;
    double value;
    char text[KW_TARGET_TEXT_MAX];
    kw_record record;
} kw_answer;

/* Appends the line with its end. What a text holds of control characters becomes blanks. */
void kw_answer_print(kw_text *text, const kw_answer *answer);
kw_status kw_answer_read(kw_answer *answer, kw_word line, kw_error *err);

#endif
