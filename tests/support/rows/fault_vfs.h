/* fault_vfs.h: SQLite's file layer with faults. A shim around the system's: counts what changes the disk (write, sync, truncate, delete) and
 * makes one of these fail, or cuts the power there. Not for threads. */
#ifndef KW_TESTS_FAULT_VFS_H
#define KW_TESTS_FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum fault_kind {
    FAULT_NONE = 0,
    FAULT_FULL,  /* no space is left */
    FAULT_ERROR, /* input/output error */
    FAULT_SHORT, /* half of a write arrives, then no space is left */
    FAULT_POWER  /* this and everything after it fails, and what was not synced may be lost: fault_vfs_restore */
} fault_kind;

typedef struct fault_plan {
    fault_kind kind;
    int64_t at;    /* which operation, from 1 */
    bool stays;    /* all later ones fail as well; else this one alone */
    bool no_wal;   /* no shared memory, so no WAL */
    uint64_t seed; /* FAULT_POWER: which unsynced sectors arrived; 0: none of them */
} fault_plan;

/* Becomes the layer that every later sqlite3_open uses. */
void fault_vfs_start(const fault_plan *plan);
/* Gives the system's layer back; returns how many operations were counted. */
int64_t fault_vfs_stop(void);
/* Whether the fault has happened. */
bool fault_vfs_happened(void);
/* After FAULT_POWER and stop: makes the files what the disk would hold. */
void fault_vfs_restore(void);

#endif
