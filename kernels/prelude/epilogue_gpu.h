/* epilogue_gpu.h: what the words of KW_EPILOGUE_STEPS (src/families/epilogue_text.h) mean for the values of a GPU's thread, in all three
 * dialects. It stands behind gpu.h in the text of a kernel that has an epilogue. */
