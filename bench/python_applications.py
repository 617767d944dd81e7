"""Kernels of applications for bench/run.py --suite python: molecular dynamics, flows, columns of an atmosphere, meshes.

Each is written once; Numba gets the same text with prange over its outermost loop."""

import ml2kokkos as kk
import numpy as np
from for_numba import registrar, zeros

CASES = []
case = registrar(CASES)


# --- Particles --------------------------------------------------------------------------------------------------------

def neighbours(random):
    atoms = 4000
    begins = np.concatenate([[0], np.cumsum(random.integers(20, 60, atoms))])
    return [10 * random.random((atoms, 3)), begins, random.integers(0, atoms, begins[-1]), zeros(atoms, 3), zeros(atoms)]


@case(neighbours)
def lennard_jones(x: kk.f64["n", 3], begin: kk.i64["m"], near: kk.i64["k"], force: kk.f64["n", 3], energy: kk.f64["n"]):
    for i in kk.range(x.shape[0]):
        fx = fy = fz = total = 0.0
        for k in kk.range(begin[i], begin[i + 1]):
            j = near[k]
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            square = dx * dx + dy * dy + dz * dz + 0.01
            if square < 6.25:
                inverse = 1.0 / square
                sixth = inverse * inverse * inverse
                pull = 24.0 * sixth * (2.0 * sixth - 1.0) * inverse
                fx += pull * dx
                fy += pull * dy
                fz += pull * dz
                total += 4.0 * sixth * (sixth - 1.0)
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz
        energy[i] = total


@case(lambda random: [np.sort(random.random(64)), random.random(64), random.random(1 << 18), zeros(1 << 18)])
def table(xs: kk.f64[64], ys: kk.f64[64], x: kk.f64["n"], y: kk.f64["n"]):
    for p in kk.range(len(x)):
        low, high = 0, 63
        while high - low > 1:
            middle = (low + high) // 2
            if xs[middle] > x[p]:
                high = middle
            else:
                low = middle
        y[p] = ys[low] + (ys[high] - ys[low]) * (x[p] - xs[low]) / (xs[high] - xs[low])


# --- Flows ------------------------------------------------------------------------------------------------------------

@case(lambda random: [random.random((1024, 1030)), zeros(1024, 1024)])
def weno(u: kk.f64["a", "b"], flux: kk.f64["a", "c"]):
    for j in kk.range(flux.shape[0]):
        for i in kk.range(flux.shape[1]):
            a, b, c, d, e = u[j, i], u[j, i + 1], u[j, i + 2], u[j, i + 3], u[j, i + 4]
            left = 13.0 / 12.0 * (a - 2.0 * b + c) ** 2 + 0.25 * (a - 4.0 * b + 3.0 * c) ** 2
            middle = 13.0 / 12.0 * (b - 2.0 * c + d) ** 2 + 0.25 * (b - d) ** 2
            right = 13.0 / 12.0 * (c - 2.0 * d + e) ** 2 + 0.25 * (3.0 * c - 4.0 * d + e) ** 2
            w0, w1, w2 = 0.1 / (1e-6 + left) ** 2, 0.6 / (1e-6 + middle) ** 2, 0.3 / (1e-6 + right) ** 2
            q0 = (2.0 * a - 7.0 * b + 11.0 * c) / 6.0
            q1 = (-b + 5.0 * c + 2.0 * d) / 6.0
            q2 = (2.0 * c + 5.0 * d - e) / 6.0
            flux[j, i] = (w0 * q0 + w1 * q1 + w2 * q2) / (w0 + w1 + w2)


@case(lambda random: [random.random((512, 2050)), random.random((512, 2051)) - 0.5, zeros(512, 2051), 0.3])
def upwind(q: kk.f64["a", "b"], speed: kk.f64["a", "c"], flux: kk.f64["a", "c"], dt: float):
    """Van Leer's limiter, on the side that the flow comes from."""
    for j in kk.range(q.shape[0]):
        for i in kk.range(2, q.shape[1] - 1):
            courant = speed[j, i] * dt
            if courant > 0.0:
                left, right = q[j, i - 1] - q[j, i - 2], q[j, i] - q[j, i - 1]
                slope = 2.0 * left * right / (left + right) if left * right > 0.0 else 0.0
                flux[j, i] = courant * (q[j, i - 1] + 0.5 * (1.0 - courant) * slope)
            else:
                left, right = q[j, i] - q[j, i - 1], q[j, i + 1] - q[j, i]
                slope = 2.0 * left * right / (left + right) if left * right > 0.0 else 0.0
                flux[j, i] = courant * (q[j, i] - 0.5 * (1.0 + courant) * slope)


@case(lambda random: [1 + 0.1 * random.random((770, 770)), random.random((770, 770)) - 0.5, random.random((770, 770)) - 0.5,
                      zeros(770, 770), zeros(770, 770), zeros(770, 770), 0.01])
def shallow_water(h: kk.f64["a", "b"], u: kk.f64["a", "b"], v: kk.f64["a", "b"], depth: kk.f64["a", "b"], east: kk.f64["a", "b"],
                  north: kk.f64["a", "b"], dt: float):
    """A step on a staggered grid."""
    for j in kk.range(1, h.shape[0] - 1):
        for i in kk.range(1, h.shape[1] - 1):
            along = u[j, i + 1] * 0.5 * (h[j, i] + h[j, i + 1]) - u[j, i] * 0.5 * (h[j, i - 1] + h[j, i])
            across = v[j + 1, i] * 0.5 * (h[j, i] + h[j + 1, i]) - v[j, i] * 0.5 * (h[j - 1, i] + h[j, i])
            depth[j, i] = h[j, i] - dt * (along + across)
    for j in kk.range(1, h.shape[0] - 1):
        for i in kk.range(1, h.shape[1] - 1):
            mean_v = 0.25 * (v[j, i - 1] + v[j, i] + v[j + 1, i - 1] + v[j + 1, i])
            mean_u = 0.25 * (u[j - 1, i] + u[j, i] + u[j - 1, i + 1] + u[j, i + 1])
            east[j, i] = u[j, i] + dt * (0.1 * mean_v - 9.81 * (depth[j, i] - depth[j, i - 1]))
            north[j, i] = v[j, i] - dt * (0.1 * mean_u + 9.81 * (depth[j, i] - depth[j - 1, i]))


@case(lambda random: [random.random((9, 514, 514)) + 0.5, zeros(9, 514, 514), 0.6])
def boltzmann(f: kk.f64[9, "a", "b"], g: kk.f64[9, "a", "b"], omega: float):
    """Streams and collides on nine velocities."""
    for j in kk.range(1, f.shape[1] - 1):
        for i in kk.range(1, f.shape[2] - 1):
            f0, f1, f2, f3, f4 = f[0, j, i], f[1, j, i - 1], f[2, j - 1, i], f[3, j, i + 1], f[4, j + 1, i]
            f5, f6, f7, f8 = f[5, j - 1, i - 1], f[6, j - 1, i + 1], f[7, j + 1, i + 1], f[8, j + 1, i - 1]
            rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
            ux, uy = (f1 + f5 + f8 - f3 - f6 - f7) / rho, (f2 + f5 + f6 - f4 - f7 - f8) / rho
            square = 1.5 * (ux * ux + uy * uy)
            a, b = ux + uy, uy - ux
            g[0, j, i] = f0 + omega * (4.0 / 9.0 * rho * (1.0 - square) - f0)
            g[1, j, i] = f1 + omega * (1.0 / 9.0 * rho * (1.0 + 3.0 * ux + 4.5 * ux * ux - square) - f1)
            g[2, j, i] = f2 + omega * (1.0 / 9.0 * rho * (1.0 + 3.0 * uy + 4.5 * uy * uy - square) - f2)
            g[3, j, i] = f3 + omega * (1.0 / 9.0 * rho * (1.0 - 3.0 * ux + 4.5 * ux * ux - square) - f3)
            g[4, j, i] = f4 + omega * (1.0 / 9.0 * rho * (1.0 - 3.0 * uy + 4.5 * uy * uy - square) - f4)
            g[5, j, i] = f5 + omega * (1.0 / 36.0 * rho * (1.0 + 3.0 * a + 4.5 * a * a - square) - f5)
            g[6, j, i] = f6 + omega * (1.0 / 36.0 * rho * (1.0 + 3.0 * b + 4.5 * b * b - square) - f6)
            g[7, j, i] = f7 + omega * (1.0 / 36.0 * rho * (1.0 - 3.0 * a + 4.5 * a * a - square) - f7)
            g[8, j, i] = f8 + omega * (1.0 / 36.0 * rho * (1.0 - 3.0 * b + 4.5 * b * b - square) - f8)


@case(lambda random: [random.random((130, 130, 130)).astype(np.float32), random.random((130, 130, 130)).astype(np.float32),
                      np.zeros((130, 130, 130), np.float32)])
def diffusion(u: kk.f32["a", "b", "c"], k: kk.f32["a", "b", "c"], out: kk.f32["a", "b", "c"]):
    for z in kk.range(1, u.shape[0] - 1):
        for y in kk.range(1, u.shape[1] - 1):
            for x in kk.range(1, u.shape[2] - 1):
                here, own = u[z, y, x], k[z, y, x]
                east = (own + k[z, y, x + 1]) * (u[z, y, x + 1] - here) - (own + k[z, y, x - 1]) * (here - u[z, y, x - 1])
                north = (own + k[z, y + 1, x]) * (u[z, y + 1, x] - here) - (own + k[z, y - 1, x]) * (here - u[z, y - 1, x])
                above = (own + k[z + 1, y, x]) * (u[z + 1, y, x] - here) - (own + k[z - 1, y, x]) * (here - u[z - 1, y, x])
                out[z, y, x] = east + north + above


# --- Columns of an atmosphere -----------------------------------------------------------------------------------------

@case(lambda random: [250 + 40 * random.random((72, 8192)), 0.01 * random.random((72, 8192)), 2e4 + 8e4 * random.random((72, 8192)),
                      zeros(72, 8192), zeros(72, 8192)])
def saturation(t: kk.f64["k", "n"], vapor: kk.f64["k", "n"], p: kk.f64["k", "n"], adjusted: kk.f64["k", "n"], cloud: kk.f64["k", "n"]):
    """Three steps of Newton's method."""
    for k in kk.range(t.shape[0]):
        for i in kk.range(t.shape[1]):
            x = t[k, i]
            for step in kk.range(3):
                pressure = 611.2 * np.exp(17.67 * (x - 273.15) / (x - 29.65))
                most = 0.622 * pressure / (p[k, i] - 0.378 * pressure)
                slope = most * 17.67 * 243.5 / (x - 29.65) ** 2
                x = x - (x - t[k, i] - 2488.0 * (vapor[k, i] - most)) / (1.0 + 2488.0 * slope)
            pressure = 611.2 * np.exp(17.67 * (x - 273.15) / (x - 29.65))
            rest = vapor[k, i] - 0.622 * pressure / (p[k, i] - 0.378 * pressure)
            adjusted[k, i] = x if rest > 0.0 else t[k, i]
            cloud[k, i] = max(rest, 0.0)


@case(lambda random: [random.random((64, 8192)), random.random((64, 8192)), zeros(65, 8192), zeros(65, 8192)])
def radiation(depth: kk.f64["k", "n"], source: kk.f64["k", "n"], down: kk.f64["l", "n"], up: kk.f64["l", "n"]):
    levels, width = depth.shape
    for i in kk.range(width):
        down[0, i] = 0.0
        for k in kk.range(levels):
            passed = np.exp(-1.66 * depth[k, i])
            down[k + 1, i] = down[k, i] * passed + source[k, i] * (1.0 - passed)
        up[levels, i] = down[levels, i] * 0.1 + 1.0
        for k in kk.range(levels - 1, -1, -1):
            passed = np.exp(-1.66 * depth[k, i])
            up[k, i] = up[k + 1, i] * passed + source[k, i] * (1.0 - passed)


@case(lambda random: [random.random((64, 4096)), 5 * random.random((64, 4096)), 0.5 + random.random((64, 4096)), zeros(64, 4096), zeros(4096)])
def sedimentation(start: kk.f64["k", "n"], speed: kk.f64["k", "n"], height: kk.f64["k", "n"], q: kk.f64["k", "n"], rain: kk.f64["n"]):
    """As many steps as a column needs."""
    levels, width = start.shape
    for i in kk.range(width):
        courant = 0.0
        for k in kk.range(levels):
            q[k, i] = start[k, i]
            courant = max(courant, speed[k, i] / height[k, i])
        steps = int(courant) + 1
        dt = 1.0 / steps
        total = 0.0
        for step in kk.range(steps):
            above = 0.0
            for k in kk.range(levels):
                below = speed[k, i] * q[k, i] * dt
                q[k, i] = q[k, i] + (above - below) / height[k, i]
                above = below
            total += above
        rain[i] = total


# --- Meshes -----------------------------------------------------------------------------------------------------------

@case(lambda random: [random.random((20000, 2)), random.integers(0, 20000, (40000, 3)), zeros(40000, 3, 3)])
def stiffness(x: kk.f64["n", 2], corner: kk.i64["t", 3], k: kk.f64["t", 3, 3]):
    for e in kk.range(corner.shape[0]):
        a, b, c = corner[e, 0], corner[e, 1], corner[e, 2]
        x1, y1, x2, y2, x3, y3 = x[a, 0], x[a, 1], x[b, 0], x[b, 1], x[c, 0], x[c, 1]
        b1, b2, b3 = y2 - y3, y3 - y1, y1 - y2
        c1, c2, c3 = x3 - x2, x1 - x3, x2 - x1
        w = 0.5 / (abs(c3 * b2 - (x3 - x1) * (y2 - y1)) + 1e-6)
        k[e, 0, 0] = w * (b1 * b1 + c1 * c1)
        k[e, 0, 1] = w * (b1 * b2 + c1 * c2)
        k[e, 0, 2] = w * (b1 * b3 + c1 * c3)
        k[e, 1, 0] = k[e, 0, 1]
        k[e, 1, 1] = w * (b2 * b2 + c2 * c2)
        k[e, 1, 2] = w * (b2 * b3 + c2 * c3)
        k[e, 2, 0] = k[e, 0, 2]
        k[e, 2, 1] = k[e, 1, 2]
        k[e, 2, 2] = w * (b3 * b3 + c3 * c3)


@case(lambda random: [np.eye(3)[None] + 0.1 * random.random((1 << 16, 3, 3)), zeros(1 << 16, 3, 3)])
def elasticity(f: kk.f64["n", 3, 3], stress: kk.f64["n", 3, 3]):
    """Stresses of a neo-Hookean body from its deformation gradients."""
    for e in kk.range(f.shape[0]):
        a, b, c = f[e, 0, 0], f[e, 0, 1], f[e, 0, 2]
        d, g, h = f[e, 1, 0], f[e, 1, 1], f[e, 1, 2]
        i, j, k = f[e, 2, 0], f[e, 2, 1], f[e, 2, 2]
        volume = a * (g * k - h * j) - b * (d * k - h * i) + c * (d * j - g * i)
        s = (2.0 * np.log(volume) - 1.0) / volume
        stress[e, 0, 0] = a + s * (g * k - h * j)
        stress[e, 0, 1] = b + s * (h * i - d * k)
        stress[e, 0, 2] = c + s * (d * j - g * i)
        stress[e, 1, 0] = d + s * (c * j - b * k)
        stress[e, 1, 1] = g + s * (a * k - c * i)
        stress[e, 1, 2] = h + s * (b * i - a * j)
        stress[e, 2, 0] = i + s * (b * h - c * g)
        stress[e, 2, 1] = j + s * (c * d - a * h)
        stress[e, 2, 2] = k + s * (a * g - b * d)
