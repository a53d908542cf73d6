/* scratch.h: a folder for one test, gone afterwards. */
#ifndef KW_TESTS_SCRATCH_H
#define KW_TESTS_SCRATCH_H

#include <stddef.h>

enum { SCRATCH_MAX = 256 };

/* Makes a fresh folder; returns its path, in text. Ends the test program when it cannot. */
const char *scratch_make(char text[SCRATCH_MAX]);
/* Removes it with all that is in it, also what cannot be written. */
void scratch_remove(const char *folder);
/* folder/name. */
const char *scratch_path(char text[2 * SCRATCH_MAX], const char *folder, const char *name);
void scratch_write(const char *path, const void *data, size_t size, unsigned mode);
/* The whole file, on the heap. */
char *scratch_read(const char *path, size_t *size);
/* Files below the folder whose names contain part; "" counts all. */
int scratch_count(const char *folder, const char *part);

#endif
