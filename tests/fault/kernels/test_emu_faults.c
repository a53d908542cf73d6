/* test_emu_faults.c: the emulator finds what is wrong with a kernel text and says it in the right words; the same text without the fault
 * verifies. */
#include "emu_faults.h"
#include "support/kw_test.h"

#define THREE                                                                                                                              \
    STORES PIXELS "#define WRITE if (kw_thread() == 32) *word = 2;\n"                                                                      \
                  "#define LAST kw_u32 *word = (kw_u32 *)(kw_lds + 41976); kw_barrier(); if (kw_thread() == 0) *word = 1; "                \
                  "kw_barrier(); if (kw_wave() < 3) { if (*word == 77) args.y[0] = 0; "
#define PIXELS_FROM(low) LOW low "\n#define LOAD kw_tensor_pixels3(to, &args.map[0], full, s * 64, m0 + (LOW), 0, 0)\n"

#define BEHIND CLUSTER "#define LAST if (rank == 0) kw_peer_write(kw_lds + 2048 + t * 16, 1, words); "

/* One thread writes a word of shared memory and all read it. */
#define AGAIN                                                                                                                              \
    "#define LDS 3104\n#define EARLY kw_u32 word; if (kw_thread() == 0) ((kw_u32 *)kw_lds)[768] = 1; kw_barrier(); word = ((kw_u32 "       \
    "*)kw_lds)[768]; "

static const emu_fault faults[] = {
    {"emu:sm_90", "", {0}},
    {"emu:gfx942", "", {0}},
    {"emu:sm_90",
     "#define BARRIER\n",
     {"race in block 0", "shared memory", "kw_config.h:9 called at kw_config.h:18;", "reads it, kw_config.h:26"}},
    {"emu:sm_90", "#define AFTER\n", {"race in block 0", "writes shared memory", "reads it", "kw_config.h:9"}},
    {"emu:gfx942", "#define BARRIER\n", {"race in block 0", "writes shared memory", "reads it, kw_config.h:24", "kw_config.h:21"}},
    {"emu:gfx942", "#define AFTER\n", {"race in block 0", "writes shared memory", "reads it"}},
    {"emu:gfx942", "#define BARRIER kw_wave_barrier();\n", {0}}, /* a block of one wave */
    {"emu:sm_90", "#define BARRIER kw_wave_barrier();\n", {"race in block 0"}},
    {"emu:sm_90", "#define WAIT\n", {"missing wait in block 0", "reads shared memory", "asynchronous copy", "kw_config.h:26"}},
    {"emu:sm_90", "#define WAIT kw_async_wait(2, 2 - kw_wave());\n", {"missing wait in block 0"}},
    {"emu:sm_90", "#define LANE (kw_lane() ^ 4)\n", {"integer data", "540 of 540 compared elements differ"}},
    {"emu:gfx942", "#define LANE (t ^ 4)\n", {"integer data", "540 of 540 compared elements differ"}},
    {"emu:sm_90", "#define ROW_OK 1\n", {"out of bounds", "reads 16 bytes at byte", "of x, which has bytes 0 to 4319", "kw_config.h:9"}},
    {"emu:sm_90", "#define BASE kw_lane() * 16\n", {"asynchronous copy in block 0", "to one base", "thread 1: base 16, kw_config.h:9"}},
    {"emu:sm_90", "#define STORE_OK i < args.gm\n", {"race in block", "writes y", "of block"}}, /* behind a row's end is the next row */
    {"emu:gfx942",
     "#define STORE_OK j < args.gn\n",
     {"out of bounds", "writes 2 bytes", "of y, which has bytes 0 to 1079", "called at kw_config.h:31"}},
    {"emu:gfx942", "#define SHIFT 4\n", {"misaligned", "writes 8 bytes at once", "4 more than a multiple", "kw_config.h:22"}},
    {"emu:gfx942", "#define LDS 1000\n", {"out of bounds", "byte 1000 of shared memory, of which the block has 1000", "kw_config.h:22"}},
    {"emu:gfx942", "#define LDS 65537\n", {"wants 65537 bytes of shared memory, a block may have 65536"}},
    {"emu:sm_90",
     "#define EARLY if (kw_wave() == 1) return;\n",
     {"deadlock in block 0", "threads 0-31 wait at kw_barrier, kw_config.h:25", "32-63 have ended"}},
    {"emu:gfx942",
     "#define MMA if (t < 32) kw_mma(&acc, &a, &b)\n",
     {"deadlock in block 0", "threads 0-31 wait for their wave at kw_mma, kw_config.h:26", "32-63 wait at kw_barrier, kw_config.h:27"}},
    {"emu:gfx942",
     "#define MMA if (t < 32) kw_mma(&acc, &a, &b)\n#define AFTER if (t > 31) kw_mma(&acc, &a, &b); kw_barrier();\n",
     {"the lanes of a wave part in block 0", "threads 0-31 wait for their wave at kw_mma, kw_config.h:26", "32-63", "kw_config.h:27"}},
    {"emu:gfx942", "#define LAST if (t == 0) args.y[0] = 1;\n", {"race in block", "writes y, byte 0", "kw_config.h:33"}},
    {"emu:gfx942", "#define LAST if (t == 0) args.x[0] = 1;\n", {"writes x, which this stage may only read", "kw_config.h:33"}},
    {"emu:sm_90", "#define COMMIT\n", {"missing wait in block 0", "reads shared memory", "asynchronous copy"}},
    {"emu:sm_90", "#define CLEAR\n", {"integer data", "compared elements differ"}}, /* registers that nothing was put into */
    {"emu:gfx942", "#define SUMS 15\n", {"integer data", "compared elements differ"}},
    {"emu:gfx942", "#define KEPT t != 5\n", {"integer data", "of 540 elements"}}, /* shared memory that nobody wrote */
    {"emu:sm_90", "#define STORE_OK i < args.gm && j < args.gn && j != 3\n", {"45 of 540 elements left unwritten"}},
    {"emu:gfx942",
     "#define EARLY ((kw_u32 *)kw_lds)[t / 2] = t; kw_barrier();\n",
     {"race in block 0: thread 1 writes shared memory", "thread 0 that writes it"}}, /* of one wave */
    {"emu:gfx942", "#define LAST ((kw_u32 *)args.shared)[kw_block() * 32 + t] = t;\n", {"race in block", "writes workspace", "of block"}},
    {"emu:gfx942",
     "#define LAST ((kw_u32 *)args.shared)[kw_block() * 64 + t] = t; if (kw_block() && ((volatile kw_u32 *)args.shared)[0] == 77) "
     "args.y[0] = 0;\n",
     {"race in block", "workspace", "of block"}},
    {"emu:sm_90", "#define LAST ((kw_u32 *)args.shared)[4096 / 4] = 1;\n", {"out of bounds", "of workspace, which has bytes 0 to 4095"}},
    {"emu:sm_90", "#define CLEAR = {{((kw_sum *)args.shared)[0], 0, 0, 0}}\n", {"integer data", "of 540 elements"}}, /* nobody wrote it */
    {"emu:sm_90",
     AGAIN "kw_wave_barrier(); if (kw_thread() == 0) ((kw_u32 *)kw_lds)[768] = 2;\n", /* its own wave read last, the other one before */
     {"race in block 0: thread 0 writes shared memory", "that reads it"}},
    {"emu:sm_90", AGAIN "kw_barrier(); if (kw_thread() == 0) ((kw_u32 *)kw_lds)[768] = 2;\n", {0}},
    /* Three waves read a word, and one writes it when it has met others: who read first and is left out is told, though two read after it. */
    {"emu:sm_90", THREE "kw_waves_barrier(3, 96); WRITE }\n", {0}},
    {"emu:sm_90",
     THREE "if (kw_wave() != 2) kw_waves_barrier(3, 64); WRITE }\n",
     {"race in block 0", "thread 32 writes shared memory", "nothing orders it with thread 9", "that reads it"}},
    {"emu:sm_90", BULK, {0}},
    {"emu:sm_90",
     BULK "#define EXPECT kw_mbar_arrive(full)\n",
     {"missing wait in block 0", "kw_config.h:29", "asynchronous copy of thread 128"}},
    {"emu:sm_90", BULK "#define EXPECT kw_mbar_expect(full, 8192)\n", {"missing wait in block 0", "asynchronous copy of thread 128"}},
    {"emu:sm_90", BULK "#define EXPECT kw_mbar_expect(full, 20000)\n", {"deadlock in block 0", "wait at kw_mbar_wait", "3616 bytes"}},
    {"emu:sm_90",
     BULK "#define EXPECT\n",
     {"deadlock in block 0", "threads 0-127 wait at kw_mbar_wait, kw_config.h:27", "1 of 1 arrivals"}},
    {"emu:sm_90", BULK "#define READY\n", {"missing wait in block 0"}},
    {"emu:sm_90", BULK "#define READY kw_mbar_wait(full, (s / 2 + 1) % 2)\n", {"missing wait in block 0"}},
    {"emu:sm_90", BULK "#define FREE s / 2 % 2\n", {"more arrivals than kw_mbar_init counted", "byte 32768", "kw_config.h:21"}},
    {"emu:sm_90",
     BULK "#define RELEASE\n",
     {"deadlock in block 0", "128 wait at kw_mbar_wait, kw_config.h:20, for 4 of 4 arrivals and 0 bytes"}},
    {"emu:sm_90",
     BULK "#define RELEASE kw_mbar_arrive(full + 8)\n",
     {"race in block 0", "thread 128 writes shared memory", "thread 0 that reads it, kw_config.h:29"}},
    {"emu:sm_90",
     BULK "#define DONE if (kw_lane() == 0) kw_mbar_arrive(full + 8)\n#define RELEASE kw_wgmma_wait(1)\n",
     {"missing wait in block 0", "thread 128 writes shared memory", "while a kw_wgmma of thread 0 is under way"}},
    {"emu:sm_90", BULK "#define DONE\n", {"missing wait in block 0"}},
    {"emu:sm_90", BULK "#define FENCE\n", {"kw_wgmma in block 0", "no kw_wgmma_fence"}},
    {"emu:sm_90",
     BULK "#define MULTIPLY if (kw_wave() < 2)\n",
     {"the lanes of four waves part", "threads 0-63 wait for their four waves at kw_wgmma, kw_config.h:29", "64-127", "kw_config.h:30"}},
    {"emu:sm_90", BULK "#define MADE kw_wave_barrier();\n", {"race with kw_mbar_init in block 0"}},
    {"emu:sm_90",
     BULK "#define STORE_EARLY ((kw_u32 *)kw_lds)[kw_thread()] = 0;\n#define MADE if (kw_thread() == 0) kw_mbar_fence(); kw_barrier();\n",
     {"missing kw_proxy_fence", "kw_config.h:12"}},
    {"emu:sm_90", BULK "#define STORE_EARLY ((kw_u32 *)kw_lds)[kw_thread()] = 0; kw_proxy_fence();\n", {0}},
    {"emu:sm_90", BULK "#define TO 8208\n", {"bulk copy in block 0", "kw_config.h:23", "multiple of 128"}},
    {"emu:sm_90",
     BULK "#define LOAD kw_tensor_load3(to, &args.map[0], full, s * 64 + 4, m0, 0)\n",
     {"bulk copy in block 0", "kw_config.h:", "at no multiple of 16 bytes"}},
    {"emu:sm_90", BULK "#define OFF (k == 0 ? 32 : 0)\n", {"integer data", "compared elements differ"}},
    {"emu:sm_90", BULK "#define ROW 16 * (kw_wave() ^ 1)\n", {"integer data", "compared elements differ"}},
    {"emu:sm_90", STORES PIXELS, {0}},
    {"emu:sm_90", BULK "#define START\n", {"missing kw_launch_wait: thread 128 of block 0 reads x", "kw_config.h:"}},
    {"emu:sm_90",
     STORES PIXELS "#define START if (kw_wave() > 3) kw_launch_wait()\n",
     {"missing kw_launch_wait: thread 0 of block 0 writes y"}},
    {"emu:sm_90", STORES PIXELS "#define PLACE row * 128 + (j + kw_lane() / 16) * 16\n", {"integer data", "compared elements differ"}},
    {"emu:sm_90", STORES PIXELS "#define PLACE row * 128 + 8\n", {"misaligned", "writes 16 bytes at once"}},
    {"emu:sm_90", STORES PIXELS "#define HANDED\n", {"missing kw_proxy_fence in block 0", "stored by thread"}},
    {"emu:sm_90", STORES PIXELS "#define MET\n", {"in block 0", "shared memory"}},
    {"emu:sm_90", STORES PIXELS "#define MET if (kw_wave() == 0) kw_waves_barrier(1, 128); else kw_waves_arrive(1, 128)\n", {0}},
    {"emu:sm_90",
     STORES PIXELS "#define MET kw_waves_barrier(1, 160)\n",
     {"deadlock in block 0", "threads 0-127 wait at kw_waves_barrier", "number 1, where 128 of 160 are"}},
    {"emu:sm_90",
     STORES PIXELS "#define MET kw_waves_barrier(1, kw_wave() < 2 ? 128 : 96)\n",
     {"barrier 1 in block 0", "says 96 threads, others said 128"}},
    {"emu:sm_90", STORES PIXELS "#define MET kw_waves_barrier(16, 128)\n", {"barrier 16 of 128 threads", "numbers are 1 to 15"}},
    {"emu:sm_90",
     STORES PIXELS "#define MET kw_waves_barrier(1, 128); kw_waves_arrive(2, 256)\n",
     {"barrier 2 in block 0: 128 of 256 threads arrived, and nobody comes any more"}},
    {"emu:sm_90", STORES PIXELS "#define FROM 64\n", {"bulk store in block 0", "multiple of 128"}},
    {"emu:sm_90", STORES PIXELS "#define STORED\n", {"missing wait in block 0: 1 bulk stores of thread 0 are not waited for"}},
    {"emu:sm_90", STORES PIXELS "#define STORED kw_store_wait_read(1)\n", {"1 bulk stores of thread 0 are not waited for"}},
    {"emu:sm_90",
     STORES PIXELS "#define STORED ((kw_u32 *)piece)[0] = 0; kw_store_wait_read(0)\n",
     {"missing wait in block 0", "thread 0 writes shared memory", "is under way"}},
    {"emu:sm_90",
     STORES PIXELS "#define LAST kw_waves_barrier(3, 256); if (kw_thread() == 200) ((kw_u32 *)piece)[0] = 0;\n",
     {0}}, /* ordered behind the wait */
    {"emu:sm_90",
     STORES PIXELS "#define LAST if (kw_thread() == 200) ((kw_u32 *)piece)[0] = 0;\n",
     {"race in block 0", "shared memory", "thread 200"}},
    {"emu:sm_90",
     STORES "#define LOAD kw_tensor_pixels3(to, &args.map[0], full, s * 64, m0 + 75, 0, 0)\n",
     {"bulk copy in block 0", "a walk must begin at one of the image's pixels"}},
    {"emu:sm_90",
     STORES "#define LOAD kw_tensor_pixels3(to, &args.map[0], full, s * 64, m0, 0, 65536)\n",
     {"bulk copy in block 0", "offsets of pixels have 16, 8 or 5 bits"}},
    {"emu:sm_90",
     STORES "#define LOAD kw_tensor_pixels3(to, &args.map[0], full, s * 64, m0, 0, 1)\n",
     {"integer data", "compared elements differ"}},
    {"emu:sm_90", STORES, {"bulk copy in block 0", "the map is one of an image"}},
    /* Of the one axis that these images have, 16 bits. What lies beside the image is zero. */
    {"emu:sm_90", STORES PIXELS_FROM("32767"), {"integer data", "compared elements differ"}},
    {"emu:sm_90", STORES PIXELS_FROM("32768"), {"bulk copy in block 0", "bounded in 16, 8 or 5 bits"}},
    {"emu:sm_90", STORES PIXELS_FROM("-32768"), {"integer data", "compared elements differ"}},
    {"emu:sm_90", STORES PIXELS_FROM("-32769"), {"bulk copy in block 0", "bounded in 16, 8 or 5 bits"}},
    {"emu:sm_90",
     STORES "#define LOAD kw_tensor_pixels3(to, &args.map[0], full, s * 64, m0, 0, 65535)\n",
     {"integer data", "compared elements differ"}},
    {"emu:sm_90", CLUSTER, {0}},
    {"emu:sm_90", CLUSTER "#define ADDER 1\n", {0}},
    {"emu:sm_90",
     CLUSTER "#define BEGUN\n",
     {"kw_peer_write in block 0, kw_config.h:15, to the cluster's block 0", "it may not have begun"}},
    {"emu:sm_90", CLUSTER "#define MEET kw_barrier()\n", {"kw_peer_write in block 1", "to the cluster's block 0: it has ended"}},
    {"emu:sm_90",
     CLUSTER "#define ADDER 1\n#define MEET kw_barrier()\n",
     {"missing kw_cluster_barrier in block 1", "reads shared memory", "kw_config.h:18, which the cluster's block 0 wrote",
      "kw_config.h:15"}},
    {"emu:sm_90",
     CLUSTER "#define SLOT t * 16\n",
     {"race in the cluster: thread 0 of block 1 writes shared memory of block 0, byte 0, kw_config.h:15", "they have not met"}},
    {"emu:sm_90",
     CLUSTER "#define BEGUN kw_cluster_barrier(); ((kw_u32 *)kw_lds)[256 + t * 4] = 0\n",
     {"race in the cluster: thread 0 of block 1 writes shared memory of block 0, byte 1024"}},
    {"emu:sm_90", CLUSTER "#define BEGUN ((kw_u32 *)kw_lds)[256 + t * 4] = 0; kw_cluster_barrier()\n", {0}},
    /* The word behind the last that the other block writes. */
    {"emu:sm_90", CLUSTER "#define BEGUN kw_cluster_barrier(); if (rank + t == 0) ((kw_u32 *)kw_lds)[512] = 0\n", {0}},
    {"emu:sm_90",
     CLUSTER "#define MEET if (rank == 0) kw_cluster_barrier()\n",
     {"deadlock in the cluster: block 0 waits at kw_cluster_barrier, kw_config.h:16; block 1 has ended"}},
    {"emu:sm_90",
     CLUSTER "#define MEET if (t < 32) kw_cluster_barrier()\n",
     {"deadlock in block 0", "threads 0-31 wait at kw_cluster_barrier, kw_config.h:16; 32-63 have ended"}},
    {"emu:sm_90", CLUSTER "#define ADDER 2\n", {"to the cluster's block 2: there is no such block"}},
    {"emu:sm_90", CLUSTER "#define SLOT (rank * 64 + t) * 16 + 4\n", {"no 16 bytes of its shared memory, at a multiple of that"}},
    {"emu:sm_90", CLUSTER "#define SLOT (rank * 256 + t) * 16\n", {"no 16 bytes of its shared memory, at a multiple of that"}},
    {"emu:sm_90", BEHIND "\n", {"missing kw_cluster_barrier: block 1 may end before block 0 writes to its shared memory"}},
    {"emu:sm_90", BEHIND "kw_cluster_barrier();\n", {0}},
};

static void planted_faults_are_found_and_named(void **state) {
    (void)state;
    emu_faults_find(faults, sizeof faults / sizeof *faults);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_faults_are_found_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
