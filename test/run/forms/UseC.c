/* The C interface from C99: one query at a time, all at once with any strides, and what is refused. */

#include "plain.h"

#include <string.h>

enum { columns = 37 };

/* Every query by set, evaluate and get; rows of a, b, p, place and sum. Returns the number of failures. */
int each_query(float const *a, float const *b, float *p, int64_t *place, float *sum) {
  plain_model *model = 0;
  int failures = plain_create(&model);
  for (int n = 0; n < columns; ++n) {
    failures += plain_set_a(model, a + n * 16, 16) + plain_set_b(model, b + n * 8, 8) + plain_evaluate(model);
    failures += plain_get_p(model, p + n * 5, 5) + plain_get_place(model, place + n, 1);
    failures += plain_get_sum_pu64(model, sum + n * 16, 16);
  }
  plain_destroy(model);
  return failures;
}

/* The same in one call, a and sum as columns. */
int all_queries(float const *a, float const *b, float *p, int64_t *place, float *sum) {
  float a_columns[16 * columns], sum_columns[16 * columns];
  for (int n = 0; n < columns; ++n)
    for (int k = 0; k < 16; ++k)
      a_columns[k * columns + n] = a[n * 16 + k];
  plain_model *model = 0;
  int failures = plain_create(&model);
  failures += plain_evaluate_all(model, columns, a_columns, 1, columns, b, 8, 1, p, 5, 1, place, 1, 0, sum_columns, 1,
                                 columns);
  plain_destroy(model);
  for (int n = 0; n < columns; ++n)
    for (int k = 0; k < 16; ++k)
      sum[n * 16 + k] = sum_columns[k * columns + n];
  return failures;
}

int refusals(void) {
  plain_model *model = 0;
  float values[16] = {0};
  int failures = plain_create(0) != plain_null;
  failures += plain_create(&model) != plain_ok;
  failures += plain_set_a(model, values, 15) != plain_length;
  failures += plain_set_a(model, 0, 16) != plain_null;
  failures += plain_set_a(0, values, 16) != plain_null;
  failures += plain_evaluate(0) != plain_null;
  failures += plain_get_p(model, values, 6) != plain_length;
  failures += plain_evaluate_all(model, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) != plain_ok;
  failures += plain_evaluate_all(model, 1, values, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) != plain_null;
  plain_destroy(model);
  plain_destroy(0);
  return failures;
}
