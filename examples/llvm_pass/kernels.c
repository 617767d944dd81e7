// Loops that a policy treats differently.
float work(float);

// Short body, trip count not known: the loop's own instructions are half of it
void scale(int n, float a, float *restrict x) {
  for (int i = 0; i < n; ++i)
    x[i] = a * x[i];
}

// Three iterations: 2 does not divide them
void three(float a, float *restrict x) {
  for (int i = 0; i < 3; ++i)
    x[i] = a * x[i];
}

// A call costs more than the loop around it
void call(int n, float *restrict x) {
  for (int i = 0; i < n; ++i)
    x[i] = work(x[i]);
}

// A long body
void polynomial(int n, float *restrict x) {
  for (int i = 0; i < n; ++i) {
    float const t = x[i], s = t * t;
    float const even = 1 + s * (0.5f + s * (0.25f + s * (0.125f + s * (0.0625f + s * (0.03125f + s * 0.015625f)))));
    float const odd = t * (1 + s * (0.4f + s * (0.2f + s * (0.1f + s * (0.05f + s * (0.025f + s * 0.0125f))))));
    float const other = (t - 1) * (t - 2) * (t - 3) * (t - 4) * (t - 5) * (t - 6) * (t - 7) * (t - 8) * (t - 9);
    x[i] = even / odd + other * even - odd * other;
  }
}
