/* kw_test.h: what nearly every test program needs: cmocka with the headers that it asks for, and a check that shows an error's text. */
#ifndef KW_TEST_H
#define KW_TEST_H

#include <kernelwright.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fails, with the line of the error, unless status is KW_OK. */
static inline void kw_test_ok(kw_status status, const kw_error *err, const char *file, int line) {
    if (status) {
        print_error("%s\n", err->text);
        _fail(file, line);
    }
}

/* The step through a table of kernels that are compiled for what their compiler makes of them. The compilers are not sanitised, and the library
 * does the same for each: a few are enough where it is, and the others stand in the optimised build. */
#ifdef __SANITIZE_ADDRESS__
enum { KW_TEST_KERNELS_STEP = 4 };
#else
enum { KW_TEST_KERNELS_STEP = 1 };
#endif

#define assert_ok(status, err) kw_test_ok(status, err, __FILE__, __LINE__)

/* Skips the case under `make memcheck`, whose machine is not the real one in everything. */
#define skip_under_valgrind(why)                                                                                                           \
    do {                                                                                                                                   \
        if (getenv("KW_VALGRIND")) {                                                                                                       \
            print_message("not under valgrind: %s\n", why);                                                                                \
            skip();                                                                                                                        \
        }                                                                                                                                  \
    } while (0)

#endif
