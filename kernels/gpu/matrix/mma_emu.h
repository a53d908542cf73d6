/* mma_emu.h: kw_mma for the emulator. A wave's lanes meet in the machine, which takes each lane's registers for what the vendor's manual
 * says they hold; nothing of fragment.h is asked there, so that a text that is wrong about a lane gets a wrong result. */
#ifndef KW_MMA_EMU_H
#define KW_MMA_EMU_H

#if KW_HAS_MFMA
#define KW_EMU_KIND KW_EMU_MFMA
#elif KW_HAS_WMMA11
#define KW_EMU_KIND KW_EMU_WMMA11
#elif KW_HAS_WMMA12 || KW_HAS_WMMA1250
#define KW_EMU_KIND KW_EMU_WMMA12
#elif KW_SCALAR
#define KW_EMU_KIND KW_EMU_FMA
#else
#define KW_EMU_KIND KW_EMU_MMA
#endif

#if KW_TF32
#define KW_EMU_TYPE KW_EMU_TF32
#elif KW_X_UNSIGNED
#define KW_EMU_TYPE KW_UINT8
#else
#define KW_EMU_TYPE KW_IN
#endif

static const kw_emu_inst kw_emu_own_inst = {KW_EMU_KIND, KW_EMU_TYPE, KW_INST_M, KW_INST_N, KW_INST_K};

#define kw_mma(acc, a, b) kw_emu_self()->calls.matrix(kw_emu_self(), &kw_emu_own_inst, acc, a, b)

#endif
