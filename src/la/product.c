/* Tiles of C stay in registers while rows of A and columns of B pass by (Goto & van de Geijn 2008). Both are copied first, in the
 * order in which they are read: A by blocks that stay in the second cache, B by strips that stay in the first. */
#include "la/product.h"

#include "core/wide.h"

enum { HIGH = 4, FOURS = 3, WIDTH = 4 * FOURS, BLOCK = 96 }; /* a tile has 4 x 12 numbers, a block of A 96 x 96 */

static inline int smaller(int a, int b) { return a < b ? a : b; }

/* Rows of A by `HIGH`, column after column, filled up with zeros. */
static void copy_rows(ss_view A, int rows, int inner, double *to) {
  for (int i = 0; i < rows; i += HIGH)
    for (int k = 0; k < inner; k++)
      for (int r = i; r < i + HIGH; r++) *to++ = r < rows ? A.at[(size_t)r * A.down + (size_t)k * A.along] : 0;
}

static void copy_columns(ss_view B, int inner, int columns, double *to) {
  for (int k = 0; k < inner; k++)
    for (int j = 0; j < WIDTH; j++) *to++ = j < columns ? B.at[(size_t)k * B.down + (size_t)j * B.along] : 0;
}

/* The tiles of one strip of C. */
WIDE static void strip(double *C, size_t stride, double factor, const double *a, const double *b, int rows, int inner,
                       int columns) {
  for (int i = 0; i < rows; i += HIGH, a += (size_t)inner * HIGH) {
    ss_four sum[HIGH][FOURS] = {0};
    for (int k = 0; k < inner; k++) {
      const double *x = a + (size_t)k * HIGH;
      const ss_four *y = (const ss_four *)(b + (size_t)k * WIDTH);
      for (int r = 0; r < HIGH; r++)
        for (int c = 0; c < FOURS; c++) sum[r][c] += x[r] * y[c];
    }
    for (int r = 0; r < HIGH && i + r < rows; r++) {
      double *target = C + (size_t)(i + r) * stride;
      if (columns == WIDTH)
        for (int c = 0; c < FOURS; c++) *(ss_four *)(target + 4 * (size_t)c) += factor * sum[r][c];
      else
        for (int j = 0; j < columns; j++) target[j] += factor * sum[r][j / 4][j % 4];
    }
  }
}

void ss_add_product(double *C, int stride, double factor, ss_view A, ss_view B, int rows, int inner, int columns) {
  double a[BLOCK * BLOCK], b[BLOCK * WIDTH];
  for (int k = 0; k < inner; k += BLOCK)
    for (int i = 0; i < rows; i += BLOCK) {
      const int depth = smaller(BLOCK, inner - k), height = smaller(BLOCK, rows - i);
      copy_rows((ss_view){A.at + (size_t)i * A.down + (size_t)k * A.along, A.down, A.along}, height, depth, a);
      for (int j = 0; j < columns; j += WIDTH) {
        const int width = smaller(WIDTH, columns - j);
        copy_columns((ss_view){B.at + (size_t)k * B.down + (size_t)j * B.along, B.down, B.along}, depth, width, b);
        strip(C + (size_t)i * (size_t)stride + j, (size_t)stride, factor, a, b, height, depth, width);
      }
    }
}
