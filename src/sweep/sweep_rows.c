/* sweep_rows.c: rows from records. The lock is held while a batch is written, and a sequence number is given under it: numbers ascend in
 * the order of commits, whatever the clock does. */
#include "sweep/sweep_rows.h"

#include "base/os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 512 }; /* rows of a transaction where nothing is measured between them */

static void copy_field(char *to, size_t capacity, const char *from) {
    snprintf(to, capacity, "%.*s", (int)capacity - 1, from);
}

kw_status kw_sweep_writer_open(kw_sweep_writer *writer, const kw_sink *sink, const kw_run *run, const kw_sweep_plan *plan,
                               const kw_sweep_options *options, kw_error *err) {
    *writer = (kw_sweep_writer){.sink = sink};
    pthread_mutex_init(&writer->lock, NULL);
    copy_field(writer->shape.run, sizeof writer->shape.run, run->id);
    copy_field(writer->shape.target, sizeof writer->shape.target, plan->target_text);
    writer->shape.packed = !plan->manifest.fresh_weights;
    writer->shape.record.cold = plan->manifest.cold;
    writer->shape.seed = (int64_t)(options->timing.seed & INT64_MAX);
    writer->shape.pid = getpid();
    return kw_sink_add_run(sink, run, err);
}

void kw_sweep_writer_close(kw_sweep_writer *writer) {
    pthread_mutex_destroy(&writer->lock);
}

static void fill_row(const kw_sweep_writer *writer, kw_row *row, const char *problem, const kw_sweep_kernel *kernel) {
    *row = writer->shape;
    copy_field(row->record.config, sizeof row->record.config, kernel->text);
    copy_field(row->problem, sizeof row->problem, problem);
    copy_field(row->code_hash, sizeof row->code_hash, kernel->code_hash);
    row->compile_ns = kernel->compile_ns;
    row->code_bytes = kernel->code_bytes;
    row->registers = kernel->facts.registers;
    row->spilled_bytes = kernel->facts.spill_bytes > 0 ? kernel->facts.spill_bytes : 0;
    row->shared_bytes = kernel->facts.lds;
}

static void fill_failure(const kw_sweep_writer *writer, kw_row *row, const char *problem, const kw_sweep_kernel *kernel, kw_outcome outcome,
                         const char *detail) {
    fill_row(writer, row, problem, kernel);
    row->record.outcome = outcome;
    copy_field(row->record.detail, sizeof row->record.detail, detail);
}

static kw_status commit_rows(kw_sweep_writer *writer, kw_row rows[], size_t count, kw_error *err) {
    kw_status status = KW_OK;
    char now[21];
    if (!count) {
        return KW_OK;
    }
    pthread_mutex_lock(&writer->lock);
    kw_clock_time(now);
    for (size_t i = 0; i < count; i++) {
        copy_field(rows[i].time, sizeof rows[i].time, now);
        rows[i].sequence = ++writer->sequence;
    }
    status = kw_sink_add(writer->sink, rows, count, err);
    for (size_t i = 0; !status && i < count; i++) {
        writer->outcome[rows[i].record.outcome]++;
    }
    pthread_mutex_unlock(&writer->lock);
    return status;
}

kw_status kw_sweep_writer_add(kw_sweep_writer *writer, const kw_sweep_batch *batch, kw_error *err) {
    size_t count = 0;
    kw_row *rows = calloc(batch->count + 1, sizeof *rows);
    if (!rows) {
        return kw_fail_memory(err, "the rows of a batch");
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->records[i].outcome == KW_UNTRIED) {
            continue;
        }
        kw_row *row = &rows[count++];
        fill_row(writer, row, batch->problem, batch->kernels[i]);
        row->record = batch->records[i];
        copy_field(row->record.config, sizeof row->record.config, batch->kernels[i]->text);
        row->record.cold = writer->shape.record.cold;
        row->control_ns = batch->control_ns;
        row->drift = batch->drift;
    }
    kw_status status = commit_rows(writer, rows, count, err);
    free(rows);
    return status;
}

/* --- pairs that need no device ------------------------------------------------------------------------------------ */

/* Rows under way to the sink, a chunk at a time. */
typedef struct chunk {
    kw_sweep_writer *writer;
    kw_row *rows;
    size_t count;
} chunk;

static kw_status flush_chunk(chunk *c, kw_error *err) {
    kw_status status = commit_rows(c->writer, c->rows, c->count, err);
    c->count = 0;
    return status;
}

static kw_status open_chunk(chunk *c, kw_sweep_writer *writer, kw_error *err) {
    *c = (chunk){.writer = writer, .rows = calloc(CHUNK, sizeof *c->rows)};
    return c->rows ? KW_OK : kw_fail_memory(err, "rows of a sweep");
}

static kw_row *next_row(chunk *c, kw_status *status, kw_error *err) {
    if (c->count == CHUNK) {
        *status = flush_chunk(c, err);
    }
    return *status ? NULL : &c->rows[c->count++];
}

kw_status kw_sweep_write_unfit(kw_sweep_writer *writer, const kw_sweep_plan *plan, const kw_sweep_options *options, kw_error *err) {
    chunk c;
    kw_status status = open_chunk(&c, writer, err);
    for (size_t t = 0; !status && t < plan->task_count && !kw_sweep_is_stopped(options); t++) {
        const kw_sweep_task *task = &plan->tasks[t];
        for (uint32_t i = 0; !status && i < task->unfit; i++) {
            kw_error why = {0};
            const kw_sweep_kernel *kernel = &plan->kernels[plan->pairs[task->first + task->fit + i]];
            kw_config_fits(kernel->config, task->problem, &plan->target, &why);
            kw_row *row = next_row(&c, &status, err);
            if (row) {
                fill_failure(writer, row, task->text, kernel, KW_UNFIT, why.text);
            }
        }
    }
    status = status ? status : flush_chunk(&c, err);
    free(c.rows);
    return status;
}

kw_status kw_sweep_write_refused(kw_sweep_writer *writer, kw_sweep_plan *plan, kw_error *err) {
    chunk c;
    kw_status status = open_chunk(&c, writer, err);
    for (size_t t = 0; !status && t < plan->task_count; t++) {
        kw_sweep_task *task = &plan->tasks[t];
        uint32_t *pairs = plan->pairs + task->first, kept = 0;
        for (uint32_t i = 0; !status && i < task->fit; i++) {
            const kw_sweep_kernel *kernel = &plan->kernels[pairs[i]];
            if (kernel->refused == KW_UNTRIED) {
                pairs[kept++] = pairs[i];
                continue;
            }
            kw_row *row = next_row(&c, &status, err);
            if (row) {
                fill_failure(writer, row, task->text, kernel, kernel->refused, kernel->detail);
            }
        }
        plan->fit -= task->fit - kept;
        task->fit = kept;
        task->unfit = 0; /* they do not follow any more; their rows are written */
    }
    status = status ? status : flush_chunk(&c, err);
    free(c.rows);
    return status;
}
