/* nvrtc_main.c: the process in which NVRTC compiles, behind the hidden verb "nvrtc" of the program: a compiler that crashes takes only it
 * along. */
#include "jit/toolchain/nvrtc.h"

#include <kernelwright_tune.h>

int kw_nvrtc_main(int count, char *const *arguments) {
    return kw_nvrtc_serve(count, arguments);
}
