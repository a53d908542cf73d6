/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. gemm.dot gemm bf16 isa=avx512 math=dp tile_m=2 tile_n=3 */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 16
#define KW_MASKS 1
#define KW_STORAGE 1
#define KW_MATH 1
#define KW_PAIR 2
#define KW_BACKWARD 0
#define KW_OUT 1
#define KW_X_UNSIGNED 0
#define KW_CHANNELS_FIRST 0
#define KW_X_ZERO 0
#define KW_W_ZERO 0
#define KW_EPILOGUE_WHOLE 0
#define KW_EPILOGUE 0
#define KW_EPILOGUE_LONG 0
#define KW_EPILOGUE_PLACED 0
#define KW_ROW_GROUPS 0
#include "prelude/cpu.h"
#define KW_ROWS 2
#define KW_COLUMNS 3
#define KW_EACH_ROW(DO) DO(0, 0) DO(1, a1)
#define KW_EACH_COLUMN(DO) DO(0, 0) DO(1, b1) DO(2, b1 * 2)
#define KW_EACH_SUM(DO, column) DO(0, column) DO(1, column)
#define KW_ONES [64 ... 127] = 255
#endif
