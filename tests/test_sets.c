/* Sets that grow together (core/sets.h), against labels that are painted over one by one. */
#include "scene_runner.h"

#include "core/sets.h"

enum { MOST = 40 };

static void check_sorted(int n, int *parent, const int *label) {
  int set[MOST], start[MOST + 1], members[MOST], number[MOST], count = 0;
  for (int k = 0; k < n; k++) {
    const int first = ss_set_of(parent, k);
    assert_int_equal(first, label[k]);
    assert_true(first <= k);
    if (first == k) number[k] = count++;
    set[k] = number[first];
  }
  ss_sets_sort(n, set, count, start, members);
  assert_int_equal(start[0], 0);
  assert_int_equal(start[count], n);
  for (int s = 0; s < count; s++) {
    assert_true(start[s] < start[s + 1]);
    for (int i = start[s]; i < start[s + 1]; i++) {
      assert_int_equal(set[members[i]], s);
      assert_true(i == start[s] || members[i - 1] < members[i]);
    }
  }
}

/* The label of a set is its first number, in whatever order it was joined. */
static void test_sets_that_are_joined(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int trial = 0; trial < 300; trial++) {
    const int n = 1 + trial % MOST;
    int parent[MOST], label[MOST];
    for (int k = 0; k < n; k++) parent[k] = label[k] = k;
    for (int join = 0; join < trial % (n + 7); join++) {
      const int a = (int)((random_next(&seed) + 1) / 2 * (n - 1)), b = (int)((random_next(&seed) + 1) / 2 * (n - 1));
      const int from = label[a] > label[b] ? label[a] : label[b], to = label[a] > label[b] ? label[b] : label[a];
      ss_set_join(parent, a, b);
      for (int k = 0; k < n; k++) label[k] = label[k] == from ? to : label[k];
    }
    check_sorted(n, parent, label);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sets_that_are_joined)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
