/* test_aligned_faults.c: lanes that part where an instruction wants all of them (PTX, ".aligned"), and what else of Hopper a text can leave out so that
 * values come out right all the same. */
#include "emu_faults.h"
#include "support/kw_test.h"

/* The same function called from two places, which are two instructions on a device. */
#define APART(what)                                                                                                                        \
    "KW_DEVICE void meet(void) {\n    " what                                                                                               \
    ";\n}\nKW_DEVICE void apart(void) {\n    if (kw_lane() < 16)\n        meet();\n    else\n        meet();\n}\n"
#define TOGETHER(what) "KW_DEVICE void meet(void) {\n    " what ";\n}\n"
/* Words that nobody else touches, of each thread. */
#define SPARE "#define SHARED 36864\n#define OWN ((kw_u32 *)(kw_lds + 32896))[kw_thread()]\n"
#define TWO_BLOCKS "#undef KW_LEAST_BLOCKS\n#define KW_LEAST_BLOCKS 2\n"
#define REGISTERS(takes, gives) "#define START kw_launch_wait(); if (kw_wave() < 4) { " takes "; } else { " gives "; }\n"

/* A compiler that optimises makes one call of two, and has accesses elsewhere than the text. */
static const emu_fault parting[] = {
    {"emu:sm_90", TOGETHER("kw_wave_barrier()") "#define AFTER meet(); kw_barrier();\n", {0}},
    {"emu:sm_90",
     APART("kw_wave_barrier()") "#define AFTER apart(); kw_barrier();\n",
     {"the lanes of a wave part in block 0", "wait for their wave at kw_wave_barrier, kw_config.h:2 called at kw_config.h:6; ",
      "48-63 wait"}},
    {"emu:sm_90",
     APART("kw_barrier()") "#define AFTER apart();\n",
     {"the lanes of a wave part in block 0", "threads 0-15 wait at kw_barrier", "called at", "16-31 wait"}},
    {"emu:sm_90", BULK TOGETHER("kw_wgmma_fence()") "#define FENCE meet()\n", {0}},
    {"emu:sm_90",
     BULK APART("kw_wgmma_fence()") "#define FENCE apart()\n",
     {"the lanes of four waves part in block 0", "threads 0-15 wait for their four waves at kw_wgmma_fence", "called at"}},
    {"emu:sm_90",
     BULK APART("kw_wgmma_wait(0)") "#define DONE apart()\n",
     {"the lanes of four waves part in block 0", "threads 0-15 wait for their four waves at kw_wgmma_wait", "called at"}},
    /* While products are under way. */
    {"emu:sm_90", BULK SPARE "#define DURING OWN = s;\n", {0}},
    {"emu:sm_90", BULK SPARE "#define DURING if (kw_wave() == 1) OWN = s;\n", {0}},
    {"emu:sm_90", BULK SPARE "#define DONE kw_wgmma_wait(0); if (kw_lane() < 16) OWN = s\n", {0}},
    {"emu:sm_90",
     BULK "#define DURING kw_wgmma_wait(0); kw_wgmma_fence(); if (kw_lane() == 0) kw_mbar_arrive(full + 8);\n#define RELEASE\n",
     {0}},
    {"emu:sm_90",
     BULK SPARE "#define DURING if (kw_lane() < 16) OWN = s;\n",
     {"the lanes of a wave part in block 0 while products are under way: threads 16-31 come to kw_wgmma_wait, kw_config.h:31, without an "
      "access to memory, kw_config.h:31"}},
    {"emu:sm_90", BULK SPARE "#define DURING if (kw_lane() == 7) continue; OWN = s;\n", {"in block 0", "kw_wgmma_wait", "7"}},
    {"emu:sm_90", BULK SPARE "#define DURING if (kw_thread() == 70) OWN = s;\n", {"threads 64-69, 71-95 come to kw_wgmma_wait"}},
    {"emu:sm_90",
     BULK SPARE "KW_DEVICE void put(kw_u32 *to) {\n    *to = 1;\n}\nKW_DEVICE void split(kw_u32 *to) {\n    if (kw_lane() < 16)\n        "
                "put(to);\n    "
                "else\n        put(to);\n}\n#define DURING split(&OWN);\n",
     {"while products are under way: threads 16-31 come to an access to memory, kw_config.h:5 called at", "others to an access to memory"}},
    {"emu:sm_90",
     BULK "#define DURING if (kw_lane() == 0) kw_mbar_wait(full, s / 2 % 2);\n",
     {"threads 1-31 come to kw_wgmma_wait", "while products are under way"}},
    {"emu:sm_90",
     BULK SPARE "#define OFF (kw_lane() > 3 ? (int)(OWN = 0) : 0)\n",
     {"threads 0-3 come to kw_wgmma, kw_config.h:29", "while products are under way"}},
    /* What lanes do not wait at. */
    {"emu:sm_90",
     BULK "#define STORE_EARLY if (kw_lane() == 3 && kw_wave() > 9) return;\n",
     {"threads 0-2, 4-31 come to kw_barrier", "without kw_wave, kw_config.h:12"}},
    {"emu:sm_90", BULK "#define STORE_EARLY if (kw_wave() > 9 && kw_lane() == 3) return;\n", {0}},
    {"emu:gfx942", "#define AFTER if (t == 3 && kw_wave() > 9) return; kw_barrier();\n", {0}}, /* AMD asks the first lane that is there */
    {"emu:sm_90",
     STORES PIXELS "#define MET kw_waves_barrier(1, 128); if (kw_lane() < 8) kw_waves_arrive(2, 32)\n",
     {"the lanes of a wave part in block 0: threads 8-31 come to their end, without kw_waves_arrive, kw_config.h:42"}},
    {"emu:sm_90",
     STORES PIXELS "#define MET if (kw_lane() < 8) kw_waves_arrive(2, 32); kw_waves_barrier(1, 128)\n",
     {"the lanes of a wave part in block 0: threads 0-7 come to kw_waves_arrive", "others to kw_waves_barrier"}},
    {"emu:sm_90",
     STORES PIXELS "#define MET if (kw_lane() < 16) kw_waves_barrier(1, 64)\n",
     {"the lanes of a wave part in block 0: threads 16-31 do not come to kw_waves_barrier"}},
    {"emu:sm_90",
     STORES PIXELS APART("kw_waves_barrier(1, 128)") "#define MET apart()\n",
     {"the lanes of a wave part in block 0: threads 0-15 come to kw_waves_barrier", "called at", "others to kw_waves_barrier",
      "called at"}},
};

/* What else a text can leave out so that values may come out right all the same. */
static const emu_fault leaving_out[] = {
    /* Registers: of two blocks a multiprocessor 128 a thread. */
    {"emu:sm_90", BULK TWO_BLOCKS REGISTERS("kw_registers_take(232)", "kw_registers_give(24)"), {0}},
    {"emu:sm_90",
     BULK TWO_BLOCKS REGISTERS("kw_registers_take(232)", "kw_registers_give(32)"),
     {"deadlock in block 0: threads 0-127 wait at kw_registers_take", "for 232 registers instead of 128"}},
    {"emu:sm_90",
     BULK TWO_BLOCKS REGISTERS("kw_registers_take(232)", "if (kw_wave() > 4) kw_registers_give(24)"),
     {"deadlock in block 0: threads 0-127 wait at kw_registers_take", "for 232 registers instead of 128"}},
    {"emu:sm_90",
     BULK TWO_BLOCKS REGISTERS("kw_registers_take(230)", "kw_registers_give(24)"),
     {"kw_registers_take in block 0", "230 of 128: counts are 24 to 256, multiples of 8"}},
    {"emu:sm_90",
     BULK TWO_BLOCKS REGISTERS("kw_registers_take(120)", "kw_registers_give(24)"),
     {"kw_registers_take in block 0", "120 of 128"}},
    {"emu:sm_90",
     BULK TWO_BLOCKS REGISTERS("kw_registers_take(232)", "kw_registers_give(136)"),
     {"kw_registers_give in block 0", "136 of 128"}},
    {"emu:sm_90",
     BULK "#define MADE kw_barrier();\n",
     {"missing kw_mbar_fence in block 0: the barrier at byte 32768 of shared memory, kw_config.h:22"}},
    {"emu:sm_90",
     BULK "#define DURING acc.e[3] = 0;\n",
     {"missing wait in block 0: the sums of threads 0-127 change while a kw_wgmma", "kw_config.h:29"}},
    {"emu:sm_90",
     BULK "#define READY if (kw_wave() != 2) kw_mbar_wait(full, s / 2 % 2)\n",
     {"missing wait in block 0: thread 64 reads shared memory", "kw_config.h:29, and has not waited for the bulk copy"}},
};

static void lanes_that_part_are_found_and_named(void **state) {
    (void)state;
    emu_faults_need_all_calls();
    emu_faults_find(parting, sizeof parting / sizeof *parting);
}

static void what_hopper_needs_besides_is_asked_for(void **state) {
    (void)state;
    emu_faults_find(leaving_out, sizeof leaving_out / sizeof *leaving_out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_part_are_found_and_named),
        cmocka_unit_test(what_hopper_needs_besides_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
