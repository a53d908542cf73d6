/* about.c: what this build is made of, for bug reports. */
#include "space/rules/rule_files.h"
#include "store/sqlite/schema.h"

#include <kernelwright_tune.h>

#include <commit.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <zlib.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void kw_about_visit(void (*visit)(void *user, const char *name, const char *value), void *user) {
    visit(user, "commit", *KW_COMMIT ? KW_COMMIT : "not known");
    visit(user, "compiler", COMPILER);
    visit(user, "glibc", gnu_get_libc_version());
    visit(user, "sqlite", kw_sqlite_version());
    visit(user, "lua", kw_lua_version());
    visit(user, "jansson", JANSSON_VERSION);
    visit(user, "zlib", zlibVersion());
}
