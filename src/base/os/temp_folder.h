/* temp_folder.h: private folders (mode 0700) for files of a moment, under $TMPDIR or /tmp, called kernelwright-XXXXXX.
 *
 * Whoever made a folder holds a lock (flock) on it until it is removed or its process is gone; so a folder without a lock belongs to nobody
 * any more, whatever number its process had, and the sweep removes it. Two things keep a sweep from a folder that was made this very
 * moment: it asks for the lock itself, and a maker that finds its folder gone or locked makes another one. */
#ifndef KW_BASE_OS_TEMP_FOLDER_H
#define KW_BASE_OS_TEMP_FOLDER_H

#include "base/status.h"

enum { KW_TEMP_FOLDER_MAX = 512 };

/* A zeroed one is none. */
typedef struct kw_temp_folder {
    char path[KW_TEMP_FOLDER_MAX]; /* "": none */
    int fd;                        /* of the folder, with the lock */
} kw_temp_folder;

kw_status kw_temp_folder_make(kw_temp_folder *folder, kw_error *err);
/* With all that is in it. */
void kw_temp_folder_remove(kw_temp_folder *folder);
/* Removes this user's folders whose processes are gone. */
void kw_temp_folder_sweep(void);

#endif
