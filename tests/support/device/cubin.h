/* cubin.h: a CUBIN made by hand, for tests that have no NVRTC. */
#ifndef KW_TESTS_CUBIN_H
#define KW_TESTS_CUBIN_H

#include "jit/jit.h"

/* On the heap: kernel kw_stage0 of 42 registers, which asks for so many bytes of shared memory. */
kw_blob cubin_sample(unsigned lds);

#endif
