/* fork.h: what a child has that a process with threads forked: locks that nobody will ever open, and none of the threads.
 *
 * A handle that has locks or threads keeps a mark, and refuses in a child. The loader of shared libraries has a lock that is not ours; a child
 * forked while another thread is in dlopen would wait for it for ever. So all of the library's work with the loader is done under a lock
 * that a fork waits for: this one is the process's, and its only one. */
#ifndef KW_BASE_OS_PROCESS_FORK_H
#define KW_BASE_OS_PROCESS_FORK_H

#include <stdbool.h>
#include <stdint.h>

/* A page that reads 1, and 0 in children; NULL where there is no such page: then nothing counts as forked. */
typedef struct kw_fork_mark {
    int32_t *page;
} kw_fork_mark;

void kw_fork_mark_open(kw_fork_mark *mark);
void kw_fork_mark_close(kw_fork_mark *mark);
/* Whether this process is a child of the one that opened the mark. */
static inline bool kw_fork_mark_lost(const kw_fork_mark *mark) {
    return mark->page && !*mark->page;
}

/* Around dlopen, dlsym, dlclose and the like. May be nested. */
void kw_loader_lock(void);
void kw_loader_unlock(void);

#endif
