/* fuzz_protocol.c: any bytes as the lines of a job and as the answers of a worker. A job that is read prints and reads again as the same;
 * so does an answer. */
#include "fuzz/fuzz.h"

#include "sweep/worker/protocol.h"

/* Reads lines until the job is complete or refused. */
static kw_status read_job(kw_job_reader *reader, kw_scan *scan) {
    kw_error err = {0};
    kw_word line;
    kw_status status = KW_OK;
    while (!status && !reader->complete && kw_scan_line(scan, &line)) {
        status = kw_job_read(reader, line, &err);
        require(status == err.status && (!status || *err.text));
    }
    return status;
}

static void check_job(kw_scan scan) {
    kw_job_reader reader = {0}, again = {0};
    kw_text first = {0}, second = {0};
    if (!read_job(&reader, &scan) && reader.complete) {
        kw_job_print(&first, &reader.job);
        kw_scan printed = kw_scan_string(first.data);
        require(!read_job(&again, &printed) && again.complete && printed.at == printed.end);
        kw_job_print(&second, &again.job);
        require(!strcmp(first.data, second.data));
    }
    kw_text_drop(&first);
    kw_text_drop(&second);
    kw_job_drop(&reader);
    kw_job_drop(&again);
}

static void check_answer(kw_word line) {
    kw_answer answer = {0}, again = {0};
    kw_text first = {0}, second = {0};
    if (!kw_answer_read(&answer, line, NULL)) {
        kw_answer_print(&first, &answer);
        require(!memchr(first.data, '\n', first.size - 1));
        require(!kw_answer_read(&again, (kw_word){first.data, first.size - 1}, NULL));
        kw_answer_print(&second, &again);
        require(!strcmp(first.data, second.data));
    }
    kw_text_drop(&first);
    kw_text_drop(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_scan scan = {(const char *)data, (const char *)data + size};
    kw_word line;
    check_job(scan);
    while (kw_scan_line(&scan, &line)) {
        check_answer(line);
    }
    return 0;
}
