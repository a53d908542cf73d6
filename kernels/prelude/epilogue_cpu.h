/* epilogue_cpu.h: what the words of KW_EPILOGUE_STEPS (src/families/epilogue_text.h) mean for vectors of a CPU. It stands behind cpu.h in the
 * text of a kernel that has an epilogue. */
