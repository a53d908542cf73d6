/* emu_faults.h: kernel texts for the emulator in which tests plant faults. They multiply small matrices in tiles of 32x8 (mma.sync), 32x32 (MFMA) or
 * 64x64 (wgmma), or 8x8 by clusters of two blocks; a fault is a macro that changes one line. emu_faults.c has the texts and those macros. */
#ifndef KW_TESTS_EMU_FAULTS_H
#define KW_TESTS_EMU_FAULTS_H

#include <stddef.h>

/* What defines begin with, of the texts but mma.sync's and MFMA's. */
#define BULK "#define KW_INST_M 64\n" /* what a fault of the text with bulk copies begins with */
/* Of that which also stores by them, and takes the first operand for a line of pixels, rows long, with depths as their channels. */
#define STORES                                                                                                                             \
    BULK "#define SHARED 41984\n"                                                                                                          \
         "#define STORES 1\n"
#define PIXELS "#define LOAD kw_tensor_pixels3(to, &args.map[0], full, s * 64, m0, 0, 0)\n"
#define LOW "#define LOW "
#define CLUSTER "#define CLUSTER 2\n"

typedef struct emu_fault {
    const char *device, *defines; /* defines: what is wrong */
    const char *says[4];          /* the record; nothing: it verifies */
} emu_fault;

/* Skips the test where the compiler optimises texts for the emulator. */
void emu_faults_need_all_calls(void);
/* Plays the texts one after the other; fails unless all records say what they should. */
void emu_faults_find(const emu_fault faults[], size_t count);

#endif
