/* tiles.c: asks the processor, then Linux (arch_prctl). */
#include "base/os/tiles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#ifdef __x86_64__
static bool processor_has_tiles(void) {
    enum { BF16 = 1 << 22, TILE = 1 << 24, INT8 = 1 << 25 };
    unsigned a, b, c, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (BF16 | TILE | INT8)) == (BF16 | TILE | INT8);
}

static kw_tiles ask_system(char why[64]) {
    enum {
        REQUEST_PERMISSION = 0x1023,
        TILE_DATA = 18
    }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA: newer than the headers of some systems */
    if (!syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA)) {
        return KW_TILES_REAL;
    }
    snprintf(why, 64, "%s", strerror(errno));
    return KW_TILES_REFUSED;
}
#else
static bool processor_has_tiles(void) {
    return false;
}

static kw_tiles ask_system(char why[64]) {
    snprintf(why, 64, "no such processor");
    return KW_TILES_REFUSED;
}
#endif

kw_tiles kw_tiles_ask(char why[64]) {
    const char *wanted = secure_getenv("KW_TILES");
    *why = 0;
    if (wanted && !strcmp(wanted, "played")) {
        return KW_TILES_PLAYED;
    }
    if ((wanted && !strcmp(wanted, "off")) || !processor_has_tiles()) {
        return KW_TILES_NONE;
    }
    return ask_system(why);
}
