/* forest_avx2.c: forest_kernel.c for processors with avx2; compiled with the options that CMakeLists.txt gives this file. */
#define KW_FOREST_NAME kw_forest_avx2
#define KW_FOREST_INSTRUCTIONS "avx2"
#include "predict/forest/forest_kernel.c"
