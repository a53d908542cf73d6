/* open.h: a jit with what it owns: the compiler that was found, the cache that was opened, the folder for logs. Everybody who compiles
 * opens it here, so that there is one order in which compilers are looked for, one default and one note for what is missing. To have no
 * compiler or no cache is no error. */
#ifndef KW_JIT_OPEN_H
#define KW_JIT_OPEN_H

#include "jit/jit.h"

/* Strings outlive the handle. */
typedef struct kw_jit_settings {
    const char *compiler; /* a path or a name; "": none; NULL: cc where kernels are compiled for this host, else the usual ones */
    const char *cc;       /* KW_CC; NULL or "": no compiler is named there */
    const char *cache;    /* a folder; NULL or "": nothing is kept */
    const char *data;     /* logs of failed compiles go to its folder logs; NULL or "": they are not kept */
    const kw_stop *stop;  /* ends compiles under way; may be NULL */
} kw_jit_settings;

/* A zeroed one is closed. jit points into the handle, which therefore stays where it is. */
typedef struct kw_jit_handle {
    kw_jit jit;
    kw_compiler compiler;
    char compiler_note[256]; /* why there is no compiler, or "" */
    char cache_note[256];    /* why there is no cache, or why it can only be read, or "" */
    char *log_folder;
} kw_jit_handle;

/* Finds the compiler and opens the cache. */
void kw_jit_open(kw_jit_handle *handle, kw_code code, const kw_jit_settings *settings);
/* The two halves, for who wants one of them, or each when it is first needed; handle->jit.code is set before. false: there is none. */
bool kw_jit_find_compiler(kw_jit_handle *handle, const kw_jit_settings *settings);
bool kw_jit_open_cache(kw_jit_handle *handle, const char *folder);
void kw_jit_close(kw_jit_handle *handle);

#endif
