/* jit.h: source -> blob, through the disk cache. A toolchain is one const struct (toolchain.h). */
#ifndef KW_JIT_JIT_H
#define KW_JIT_JIT_H

#include "families/source.h"

typedef struct kw_toolchain kw_toolchain;

/* A compiler that was found and asked who it is. identity is what goes into cache keys. */
typedef struct kw_compiler {
    const kw_toolchain *toolchain;
    char path[512];      /* of the program, or of the library */
    char linker[512];    /* the program that makes its objects whole; "": none is run */
    char kind[16];       /* "gcc", "clang", "nvrtc": decides the options */
    char version[32];    /* "12.2.0" */
    char identity[160];  /* kind, version, target triple, size and time stamp of the binary */
    int64_t size, time;  /* of the binary: bytes, nanoseconds since 1970; one that changes is not run any more */
    int64_t limit_ns;    /* for one kernel; 0: a minute */
    const kw_stop *stop; /* a compile under way shall end, which then counts as failed; may be NULL */
} kw_compiler;

/* Looks for a compiler of the code's toolchain: wanted (a path or a name), or the usual ones when wanted is NULL (for a CPU gcc, clang, cc
 * on PATH). KW_ENVIRONMENT when none works. Runs the compiler once, to ask who it is. */
kw_status kw_compiler_find(kw_compiler *compiler, const char *wanted, kw_code code, kw_error *err);
/* NULL when there is none for the dialect. */
const kw_toolchain *kw_toolchain_of(kw_dialect dialect);

/* Compiled bytes, on the heap. */
typedef struct kw_blob {
    void *data;
    size_t size;
} kw_blob;

void kw_blob_drop(kw_blob *blob);

/* What a GPU kernel needs of a multiprocessor, as its blob says; all 0 and spill_bytes -1 where it says nothing. */
typedef struct kw_blob_facts {
    int32_t registers;        /* 32-bit vector registers of a thread */
    int32_t acc_registers;    /* of them, or beside them, matrix accumulators (AMD) */
    int32_t scalar_registers; /* of a wave (AMD) */
    int32_t lds;              /* bytes of shared memory of a block that are fixed at compile time */
    int32_t scratch;          /* bytes of stack of a thread */
    int32_t spill_bytes;      /* of registers that had no room, a thread; -1: the blob does not say */
} kw_blob_facts;

kw_status kw_blob_facts_read(kw_blob_facts *facts, const kw_blob *blob, kw_code code, kw_error *err);

typedef struct kw_cache kw_cache;

enum { KW_CACHE_KEY_MAX = 96 };  /* digits of a key, without its end */
enum { KW_BUILDER_DIGITS = 16 }; /* of them, those that stand for the compiler and its options */

typedef struct kw_cache_stats {
    int64_t entries, bytes;
} kw_cache_stats;

/* Opens (and makes) the cache folder; see cache.c for key, layout, concurrency and off switch. An unusable or untrusted folder gives
 * *cache = NULL and KW_OK, with the reason in note: the cache is then off. A folder that can only be read is used for reading, with a
 * note. A note is "" otherwise. */
kw_status kw_cache_open(kw_cache **cache, const char *folder, char note[256], kw_error *err);
void kw_cache_close(kw_cache **cache);
/* KW_OK with blob->data NULL is a miss. Any doubt about an entry is a miss. */
kw_status kw_cache_get(kw_cache *cache, const char *key, kw_blob *blob, kw_error *err);
/* Failing to store is no failure of the caller's work: the status says so, and the caller may ignore it. */
kw_status kw_cache_put(kw_cache *cache, const char *key, const kw_blob *blob, kw_error *err);
kw_status kw_cache_scan(kw_cache *cache, kw_cache_stats *stats, kw_error *err);
kw_status kw_cache_remove_all(kw_cache *cache, int64_t *removed, kw_error *err);

/* What a compile needs; a value. code: what for. compiler NULL: only the cache answers. cache NULL: nothing is kept. */
typedef struct kw_jit {
    kw_code code;
    const kw_compiler *compiler; /* found for that code */
    kw_cache *cache;
    const char *log_folder; /* where source and messages of a failed compile are kept; NULL: nowhere */
} kw_jit;

typedef struct kw_jit_result {
    bool cached;
    int64_t cpu_ns;                      /* of the compiler; 0 when cached */
    char key[KW_CACHE_KEY_MAX + 1];      /* under which the cache has the blob, or would; "" for a compiled-in family */
    char builder[KW_BUILDER_DIGITS + 1]; /* who made the blob, a part of the key; "" for a compiled-in family */
} kw_jit_result;

/* The blob of a generated config. KW_MISSING: not cached and no compiler. KW_FAILED: the compiler refused; err has its first error line and
 * the kept log's path. Many threads may call it with one kw_jit. */
kw_status kw_jit_blob(const kw_jit *jit, const kw_config *config, kw_blob *blob, kw_jit_result *result, kw_error *err);
/* The same from the cache alone, where the blob of this builder comes before younger ones. */
kw_status kw_jit_known(const kw_jit *jit, const kw_config *config, const char *builder, kw_blob *blob, kw_jit_result *result,
                       kw_error *err);

#endif
