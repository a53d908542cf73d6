/* file.h: whole files, output, folders, and the standard places of a user's files. */
#ifndef KW_BASE_OS_FILE_H
#define KW_BASE_OS_FILE_H

#include "base/container/arena.h"
#include "base/status.h"

#include <stdbool.h>

/* "cannot VERB PATH: why", as errno says; KW_MISSING where there is no such file, else KW_IO. */
kw_status kw_fail_file(kw_error *err, const char *verb, const char *path);

/* Reads a regular file of at most limit bytes; *data is terminated beyond its size and lives in the arena. */
kw_status kw_file_read(kw_arena *arena, const char *path, size_t limit, char **data, size_t *size, kw_error *err);

/* A file being written. It is there whole or not at all: written beside its place (without a name where the file system can do that, so that
 * a kill leaves nothing), put on the disk and given its name at the end. Links are followed, and a file that is replaced keeps its mode.
 * What is no regular file (a pipe, /dev/null, /dev/stdout) is never replaced but written through. */
typedef struct kw_output {
    int fd;
    char *path;      /* where links lead */
    char *temporary; /* the name in between; NULL: written through */
    bool unnamed;    /* it does not have that name yet */
} kw_output;

/* mode as for open: of a new file, less the umask. After a failure there is nothing to close. */
kw_status kw_output_open(kw_output *output, const char *path, unsigned mode, kw_error *err);
/* Puts the file in its place when status is KW_OK, else leaves what was there; returns what came of it. */
kw_status kw_output_close(kw_output *output, kw_status status, kw_error *err);
/* All of it in one call. */
kw_status kw_file_replace(const char *path, const void *data, size_t size, unsigned mode, kw_error *err);
/* Where a path's links lead, on the heap, also when nothing is there yet; NULL: no memory. */
char *kw_path_follow(const char *path);

/* All bytes to an open descriptor, across short and interrupted writes; false with errno set, EFBIG also where that would be a signal. */
bool kw_file_write(int fd, const void *data, size_t size);
/* Up to size bytes, less only at the end of the file; -1 with errno set on failure. */
ptrdiff_t kw_file_fill(int fd, void *data, size_t size);
enum { KW_DESCRIPTOR_FIRST = 10 };
/* Moves a descriptor above the numbers that a child is given, which a host program may have closed; -1 with errno when there is none or no
 * room. */
int kw_descriptor_move_up(int fd);
/* Makes a folder and those above it (mode 0700 for new ones). */
kw_status kw_folder_make(const char *path, kw_error *err);

/* A folder of the user's: the value of variable when set, else $xdg/kernelwright, else ~/home_part/kernelwright; "" when none of
 * them is known, NULL for want of memory. Relative XDG values are ignored, as the XDG rules ask. */
const char *kw_folder_user(kw_arena *arena, const char *variable, const char *xdg, const char *home_part);

#endif
