/* nvrtc_setup.h: NVRTC for tests, where it is there. */
#ifndef KW_TESTS_UNIT_JIT_NVRTC_SETUP_H
#define KW_TESTS_UNIT_JIT_NVRTC_SETUP_H

#include "jit/toolchain/nvrtc.h"
#include "jit/toolchain/nvrtc_library.h"

kw_code nvrtc_code(const char *arch);
/* Skips the test where there is none. */
void nvrtc_need(kw_compiler *compiler);
/* The source as PTX, on the heap; drops the source. arch: "sm_90a". */
char *nvrtc_ptx(const kw_nvrtc *library, kw_text *source, const char *arch);

#endif
