/* Loops over numbers that are worth wider vectors than every x86-64 has: compiled twice, chosen when the program starts. The
 * same operations in the same order, none of them fused, so the results are the same to the last bit. Sanitizers start after the
 * choice is made, and other compilers and C libraries have no way to make it. */
#ifndef SS_CORE_WIDE_H
#define SS_CORE_WIDE_H

#if defined __GNUC__ && !defined __clang__ && defined __x86_64__ && defined __gnu_linux__ && defined __OPTIMIZE__ &&   \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define WIDE   __attribute__((target_clones("avx2", "default")))
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default"))) /* for ss_eight */
#else
#define WIDE
#define WIDEST
#endif

/* Four numbers side by side, anywhere in an array of doubles: where the compiler would choose the wrong loop to turn into vectors. */
typedef double ss_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double ss_eight __attribute__((vector_size(64), aligned(8), may_alias));

#endif
