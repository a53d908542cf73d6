/* worker_status.c: the page is a memory file. count is odd while a mark is being written (a sequence lock with one writer); a reader that never
 * sees it even, because the writer died there, takes what there is. The file is sealed against being cut short, which would end who reads
 * it. */
#include "sweep/worker/worker_status.h"

#include "base/os/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, READ_TRIES = 1000 };

struct kw_blackbox {
    _Atomic uint64_t count;
    _Atomic int64_t at_ns;
    _Atomic int32_t kernel, step;
};

kw_status kw_blackbox_map(kw_blackbox **box, int fd, kw_error *err) {
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *box = page == MAP_FAILED ? NULL : page;
    return *box ? KW_OK : kw_fail(err, KW_ENVIRONMENT, "descriptor %d is no page that can be mapped", fd);
}

kw_status kw_blackbox_make(kw_blackbox **box, int *fd, kw_error *err) {
    *box = NULL;
    *fd = memfd_create("kernelwright-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, PAGE) || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        return kw_fail(err, KW_ENVIRONMENT, "no memory file can be made for a worker (memfd_create)");
    }
    return kw_blackbox_map(box, *fd, err);
}

void kw_blackbox_close(kw_blackbox **box) {
    if (*box) {
        munmap(*box, PAGE);
    }
    *box = NULL;
}

void kw_blackbox_write(kw_blackbox *box, int32_t kernel, kw_step step) {
    if (!box) {
        return;
    }
    uint64_t count = atomic_load_explicit(&box->count, memory_order_relaxed);
    atomic_store(&box->count, count + 1);
    atomic_store(&box->at_ns, kw_clock_ns());
    atomic_store(&box->kernel, kernel);
    atomic_store(&box->step, (int32_t)step);
    atomic_store(&box->count, count + 2);
}

kw_mark kw_blackbox_read(const kw_blackbox *box) {
    kw_mark mark = {0};
    for (int i = 0; i < READ_TRIES; i++) {
        uint64_t count = atomic_load(&box->count);
        int32_t step = atomic_load(&box->step);
        mark = (kw_mark){.count = count, .at_ns = atomic_load(&box->at_ns), .kernel = atomic_load(&box->kernel)};
        mark.step = step >= 0 && step < KW_STEP_COUNT ? (kw_step)step : KW_STEP_IDLE;
        if (!(count & 1) && atomic_load(&box->count) == count) {
            break;
        }
    }
    return mark;
}

const char *kw_step_name(kw_step step) {
    static const char *const names[KW_STEP_COUNT] = {"idle", "prepared", "loaded", "verified", "timed", "checked again", "unloaded"};
    return names[step];
}
