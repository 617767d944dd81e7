// Runs the kernels: the same values whatever was decided about their loops.
#include <stdio.h>

void scale(int n, float a, float *x);
void three(float a, float *x);
void call(int n, float *x);
void polynomial(int n, float *x);

float work(float x) { return x * x + 1; }

int main(void) {
  float x[103];
  for (int i = 0; i < 103; ++i)
    x[i] = 0.01f * (float)i;
  scale(103, 1.5f, x);
  three(0.5f, x);
  call(103, x);
  polynomial(103, x);
  double sum = 0;
  for (int i = 0; i < 103; ++i)
    sum += x[i];
  printf("%.9g\n", sum);
  return 0;
}
