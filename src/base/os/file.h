/* file.h: whole files, atomic replacement, folders, and the standard places of a user's files. */
#ifndef KW_BASE_OS_FILE_H
#define KW_BASE_OS_FILE_H

#include "base/container/arena.h"
#include "base/status.h"

/* "cannot VERB PATH: why", as errno says; KW_MISSING where there is no such file, else KW_IO. */
kw_status kw_fail_file(kw_error *err, const char *verb, const char *path);

/* Reads a regular file of at most limit bytes; *data is terminated beyond its size and lives in the arena. */
kw_status kw_file_read(kw_arena *arena, const char *path, size_t limit, char **data, size_t *size, kw_error *err);
/* Replaces path whole or not at all: writes a temporary file beside it, syncs and renames. mode as for open. */
kw_status kw_file_replace(const char *path, const void *data, size_t size, unsigned mode, kw_error *err);
/* All bytes to an open descriptor, across short and interrupted writes; false with errno set. */
bool kw_file_write(int fd, const void *data, size_t size);
/* Up to size bytes, less only at the end of the file; -1 with errno set on failure. */
ptrdiff_t kw_file_fill(int fd, void *data, size_t size);
/* Makes a folder and those above it (mode 0700 for new ones). */
kw_status kw_folder_make(const char *path, kw_error *err);

/* A folder of the user's: the value of variable when set, else $xdg/kernelwright, else ~/home_part/kernelwright; NULL when none of
 * them is known. Relative XDG values are ignored, as the XDG rules ask. */
char *kw_folder_user(kw_arena *arena, const char *variable, const char *xdg, const char *home_part);

#endif
