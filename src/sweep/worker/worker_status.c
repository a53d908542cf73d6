/* worker_status.c: the page is a memory file. count is odd while an entry is being written (a sequence lock with one writer); a reader
 * that never sees it even, because the writer died there, takes what there is. The file is sealed against being cut short, which would end
 * who reads it. */
#include "sweep/worker/worker_status.h"

#include "base/os/clock.h"

#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, READ_TRIES = 1000 };

struct kw_worker_status {
    _Atomic uint64_t count;
    _Atomic int64_t at_ns;
    _Atomic int32_t kernel, step;
};

kw_status kw_worker_status_map(kw_worker_status **status_page, int fd, kw_error *err) {
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *status_page = page == MAP_FAILED ? NULL : page;
    return *status_page ? KW_OK : kw_fail(err, KW_ENVIRONMENT, "descriptor %d is no page that can be mapped", fd);
}

kw_status kw_worker_status_create(kw_worker_status **status_page, int *fd, kw_error *err) {
    *status_page = NULL;
    *fd = memfd_create("kernelwright-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, PAGE) || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        return kw_fail(err, KW_ENVIRONMENT, "no memory file can be made for a worker (memfd_create)");
    }
    return kw_worker_status_map(status_page, *fd, err);
}

void kw_worker_status_close(kw_worker_status **status_page) {
    if (*status_page) {
        munmap(*status_page, PAGE);
    }
    *status_page = NULL;
}

void kw_worker_status_write(kw_worker_status *status_page, int32_t kernel, kw_worker_step step) {
    if (!status_page) {
        return;
    }
    uint64_t count = atomic_load_explicit(&status_page->count, memory_order_relaxed);
    atomic_store(&status_page->count, count + 1);
    atomic_store(&status_page->at_ns, kw_clock_ns());
    atomic_store(&status_page->kernel, kernel);
    atomic_store(&status_page->step, (int32_t)step);
    atomic_store(&status_page->count, count + 2);
}

kw_worker_progress kw_worker_status_read(const kw_worker_status *status_page) {
    kw_worker_progress progress = {0};
    for (int i = 0; i < READ_TRIES; i++) {
        uint64_t count = atomic_load(&status_page->count);
        int32_t step = atomic_load(&status_page->step);
        progress =
            (kw_worker_progress){.count = count, .at_ns = atomic_load(&status_page->at_ns), .kernel = atomic_load(&status_page->kernel)};
        progress.step = step >= 0 && step < KW_WORKER_STEP_COUNT ? (kw_worker_step)step : KW_WORKER_STEP_IDLE;
        if (!(count & 1) && atomic_load(&status_page->count) == count) {
            break;
        }
    }
    return progress;
}

const char *kw_worker_step_name(kw_worker_step step) {
    static const char *const names[KW_WORKER_STEP_COUNT] = {"idle", "prepared", "loaded", "verified", "timed", "checked again", "unloaded"};
    assert((unsigned)step < KW_WORKER_STEP_COUNT);
    return names[step];
}
