/* fork.c: pages that a fork clears (MADV_WIPEONFORK), which reach children of clone and of a fork without handlers as well; and the lock
 * around the loader. */
#include "base/os/process/fork.h"

#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

void kw_fork_mark_open(kw_fork_mark *mark) {
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mark->page = NULL;
    if (page == MAP_FAILED) {
        return;
    }
    if (madvise(page, PAGE, MADV_WIPEONFORK)) {
        munmap(page, PAGE);
        return;
    }
    mark->page = page;
    *mark->page = 1;
}

void kw_fork_mark_close(kw_fork_mark *mark) {
    if (mark->page) {
        munmap(mark->page, PAGE);
    }
    mark->page = NULL;
}

static pthread_mutex_t loader;
static pthread_once_t loader_once = PTHREAD_ONCE_INIT;

/* Recursive: what is loaded may fork while it is. Made anew in a child, where its owner has another number. */
static void make_loader_lock(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&loader, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void unlock_in_parent(void) {
    pthread_mutex_unlock(&loader);
}

static void prepare_loader_lock(void) {
    make_loader_lock();
    pthread_atfork(kw_loader_lock, unlock_in_parent, make_loader_lock);
}

/* A fork of another thread may come as soon as the handlers are there, so that it too passes by the once. */
void kw_loader_lock(void) {
    pthread_once(&loader_once, prepare_loader_lock);
    pthread_mutex_lock(&loader);
}

void kw_loader_unlock(void) {
    pthread_mutex_unlock(&loader);
}
