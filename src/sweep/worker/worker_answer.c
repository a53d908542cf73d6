/* worker_answer.c: answers on their way to the parent. A kernel may close or replace the descriptor they go to: then nothing more can be
 * said. */
#include "sweep/worker/worker.h"

#include "base/os/file.h"

#include <sys/stat.h>
#include <unistd.h>

void kw_worker_check_output(const kw_worker *w) {
    struct stat info;
    if (fstat(w->out, &info) || info.st_dev != w->out_device || info.st_ino != w->out_inode) {
        _exit(KW_WORKER_OUTPUT_LOST);
    }
}

void kw_worker_answer(const kw_worker *w, const kw_answer *answer) {
    kw_text line = {0};
    kw_answer_print(&line, answer);
    if (line.failed || !kw_file_write(w->out, line.data, line.size)) {
        _exit(KW_WORKER_OUTPUT_LOST);
    }
    kw_text_drop(&line);
}
