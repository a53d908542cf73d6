/* permute.h: a vector whose lanes are those of another, each named by its number. Compilers have a word of their own for it. */
KW_INLINE kw_vf kw_permute(kw_vf v, kw_vi lanes) {
#if !defined(__clang__)
    return __builtin_shuffle(v, lanes);
#elif KW_LANES == 16
    return __builtin_ia32_permvarsf512(v, lanes);
#else
    return __builtin_ia32_permvarsf256(v, lanes);
#endif
}
