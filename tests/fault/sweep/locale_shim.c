/* locale_shim.c: preloaded into a program, it does what many a library does: it takes on the locale of the environment. Where there is no such
 * locale the program ends with 9, so that a test of it cannot pass for nothing. */
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void take_locale(void) {
    const char *wanted = getenv("LC_ALL");
    if (wanted && !setlocale(LC_ALL, "")) {
        _exit(9);
    }
}
