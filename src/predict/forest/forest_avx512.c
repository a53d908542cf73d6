/* forest_avx512.c: forest_kernel.c for processors with avx512; compiled with the options that CMakeLists.txt gives this file. */
#define KW_FOREST_NAME kw_forest_avx512
#define KW_FOREST_INSTRUCTIONS "avx512"
#include "predict/forest/forest_kernel.c"
