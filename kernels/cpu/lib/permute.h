/* permute.h: a vector whose lanes are those of another, or of two, each named by its number. Compilers have words of their own for it. */
KW_INLINE kw_vf kw_permute(kw_vf v, kw_vi lanes) {
#if !defined(__clang__)
    return __builtin_shuffle(v, lanes);
#elif KW_LANES == 16
    return __builtin_ia32_permvarsf512(v, lanes);
#else
    return __builtin_ia32_permvarsf256(v, lanes);
#endif
}

KW_INLINE __attribute__((unused)) kw_vf kw_permute_two(kw_vf low, kw_vf high, kw_vi lanes) {
#if KW_LANES == 8 /* each by its own three bits of the numbers; the fourth, moved to the sign, says which */
    kw_vf first = kw_permute(low, lanes), second = kw_permute(high, lanes), which = (kw_vf)(lanes << 28);
    __asm__("vblendvps %3, %2, %1, %0" : "=x"(first) : "x"(first), "x"(second), "x"(which));
    return first;
#elif !defined(__clang__)
    return __builtin_shuffle(low, high, lanes);
#else
    return __builtin_ia32_vpermi2varps512(low, lanes, high);
#endif
}
