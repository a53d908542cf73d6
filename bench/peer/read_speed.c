/* read_speed.c: reads memory by all threads and does nothing else, which few rows times many weights cannot be faster than
 * (bench/peer/cpu_vs_torch.py --reader).
 *
 *   cc -O3 -march=native -fopenmp -shared -fPIC -o read_speed.so bench/peer/read_speed.c */
#include <stddef.h>
#include <stdint.h>

uint64_t read_all(const uint64_t *words, size_t bytes, int threads);

uint64_t read_all(const uint64_t *words, size_t bytes, int threads) {
    enum { LANES = 64 };
    uint64_t all = 0;
    ptrdiff_t blocks = (ptrdiff_t)(bytes / sizeof *words / LANES);
#pragma omp parallel num_threads(threads) reduction(+ : all)
    {
        uint64_t sum[LANES] = {0};
#pragma omp for schedule(static)
        for (ptrdiff_t i = 0; i < blocks; i++) {
            for (size_t lane = 0; lane < LANES; lane++) {
                sum[lane] += words[(size_t)i * LANES + lane];
            }
        }
        for (size_t lane = 0; lane < LANES; lane++) {
            all += sum[lane];
        }
    }
    return all;
}
