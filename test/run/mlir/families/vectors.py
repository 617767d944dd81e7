"""Programs on vectors: transfers, masks, contractions, reductions, elements in other places, loops that carry vectors."""

import numpy

from . import Program, function, memref, tensor

C = "".join(f"%c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 4, 8, 16)) + "%z = arith.constant 0.0 : f32\n%one = arith.constant 1.5 : f32\n"
V8, V4, M8 = "vector<8xf32>", "vector<4xf32>", "vector<8xi1>"
X, Y, I = memref(64, "f32"), memref(64, "f32"), memref(64, "i32")
A, B, D = memref(12, 20, "f32"), memref(20, 12, "f32"), memref(12, 12, "f32")


def simple(name, arguments, lines, results=(), **options):
    return Program("vec_" + name, function("vec_" + name, arguments, results, C + lines.strip("\n")), **options)


def loads(name, lines, value="%r", kind=V8, **options):
    """%v and %w are loaded from x and y at 3 and 8, `value` is stored to y at 16."""
    return simple(name, {"x": X, "y": Y}, f"""%v = vector.load %x[%c3] : {X}, {V8}
%w = vector.load %y[%c8] : {Y}, {V8}
{lines}
vector.store {value}, %y[%c16] : {Y}, {kind}
return""", **options)


def added(v, x):
    v = v.copy()
    v[2] = 1.5
    return [v + x[3:11]]


def memory():
    yield simple("axpy", {"a": "f32", "x": X, "y": Y}, f"""%s = vector.splat %a : {V8}
%c64 = arith.constant 64 : index
scf.for %i = %c0 to %c64 step %c8 {{
  %v = vector.load %x[%i] : {X}, {V8}
  %w = vector.load %y[%i] : {Y}, {V8}
  %r = vector.fma %s, %v, %w : {V8}
  vector.store %r, %y[%i] : {Y}, {V8}
}}
return""")
    yield simple("tail", {"x": "memref<?xf32>", "y": "memref<?xf32>"}, f"""%n = memref.dim %x, %c0 : memref<?xf32>
scf.for %i = %c0 to %n step %c8 {{
  %v = vector.transfer_read %x[%i], %z : memref<?xf32>, {V8}
  %r = arith.mulf %v, %v : {V8}
  vector.transfer_write %r, %y[%i] : {V8}, memref<?xf32>
}}
return""", extents={"n": 21, "y_size": 21})
    yield simple("shifted", {"x": X}, f"""%v = vector.load %x[%c0] : {X}, {V8}
vector.store %v, %x[%c1] : {X}, {V8}
%w = vector.transfer_read %x[%c16], %z {{in_bounds = [true]}} : {X}, {V8}
%u = vector.transfer_read %x[%c2], %z : {X}, {V8}
%s = arith.addf %u, %w : {V8}
vector.transfer_write %s, %x[%c3] : {V8}, {X}
return""")
    yield simple("swapped", {"x": X, "y": Y}, f"""%v = vector.load %x[%c0] : {X}, {V8}
%w = vector.load %y[%c0] : {Y}, {V8}
vector.store %v, %y[%c0] : {Y}, {V8}
vector.store %w, %x[%c0] : {X}, {V8}
return""")
    yield simple("permuted", {"a": A, "b": B}, f"""%v = vector.transfer_read %a[%c2, %c3], %z {{permutation_map = affine_map<(i, j) -> (j, i)>}} : {A}, vector<4x3xf32>
%w = vector.transfer_read %b[%c1, %c2], %z {{in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (0, j)>}} : {B}, vector<4x3xf32>
%r = arith.addf %v, %w : vector<4x3xf32>
vector.transfer_write %r, %b[%c4, %c8] {{permutation_map = affine_map<(i, j) -> (j, i)>}} : vector<4x3xf32>, {B}
return""")
    yield simple("padded", {"a": A, "b": B, "i": "index"}, f"""%v = vector.transfer_read %a[%i, %i], %one : {A}, vector<5x6xf32>
vector.transfer_write %v, %b[%i, %i] : vector<5x6xf32>, {B}
return""", integers=(8, 11))
    yield simple("masked_transfers", {"x": X, "y": Y, "n": "index"}, f"""%m = vector.create_mask %n : {M8}
%v = vector.transfer_read %x[%c3], %one, %m : {X}, {V8}
%w = vector.mask %m {{ vector.transfer_read %x[%c8], %z : {X}, {V8} }} : {M8} -> {V8}
%s = arith.subf %v, %w : {V8}
vector.transfer_write %s, %y[%c0], %m : {V8}, {Y}
vector.mask %m {{ vector.transfer_write %v, %y[%c16] : {V8}, {Y} }} : {M8}
return""", integers=(-2, 11))
    yield simple("masked_matrix", {"a": A, "b": B, "n": "index", "k": "index"}, f"""%m = vector.create_mask %n, %k : vector<4x8xi1>
%v = vector.transfer_read %a[%c1, %c2], %one, %m : {A}, vector<4x8xf32>
vector.transfer_write %v, %b[%c3, %c2], %m : vector<4x8xf32>, {B}
return""", integers=(1, 8))
    yield simple("maskedload", {"x": X, "y": Y, "n": "index"}, f"""%m = vector.create_mask %n : {M8}
%p = vector.splat %one : {V8}
%v = vector.maskedload %x[%c3], %m, %p : {X}, {M8}, {V8} into {V8}
%d = arith.addf %v, %v : {V8}
vector.maskedstore %y[%c4], %m, %d : {Y}, {M8}, {V8}
return""", integers=(0, 9))
    yield simple("gather", {"x": X, "i": memref(8, "i32"), "y": Y}, f"""%m = vector.constant_mask [6] : {M8}
%at = vector.load %i[%c0] : memref<8xi32>, vector<8xi32>
%p = vector.splat %one : {V8}
%v = vector.gather %x[%c16][%at], %m, %p : {X}, vector<8xi32>, {M8}, {V8} into {V8}
vector.scatter %y[%c16][%at], %m, %v : {Y}, vector<8xi32>, {M8}, {V8}
return""")
    yield loads("compressed", f"""%m = arith.cmpf ogt, %v, %w : {V8}
%e = vector.expandload %x[%c8], %m, %w : {X}, {M8}, {V8} into {V8}
vector.compressstore %y[%c0], %m, %v : {Y}, {M8}, {V8}
%r = arith.addf %e, %w : {V8}""")
    yield simple("tensors", {"a": tensor(12, 20, "f32"), "b": tensor(12, 20, "f32")}, f"""%v = vector.transfer_read %a[%c2, %c3], %z : {tensor(12, 20, 'f32')}, vector<4x8xf32>
%e = arith.mulf %v, %v : vector<4x8xf32>
%r = vector.transfer_write %e, %b[%c1, %c16] : vector<4x8xf32>, {tensor(12, 20, 'f32')}
return %r : {tensor(12, 20, 'f32')}""", results=[tensor(12, 20, "f32")])
    yield simple("masked_tensor", {"a": tensor(12, 20, "f32"), "b": tensor(12, 20, "f32"), "n": "index"}, f"""%m = vector.create_mask %n, %n : vector<4x8xi1>
%v = vector.transfer_read %a[%c2, %c16], %z : {tensor(12, 20, 'f32')}, vector<4x8xf32>
%r = vector.mask %m {{ vector.transfer_write %v, %b[%c1, %c16] : vector<4x8xf32>, {tensor(12, 20, 'f32')} }} : vector<4x8xi1> -> {tensor(12, 20, 'f32')}
%w = vector.transfer_read %r[%c0, %c1], %z : {tensor(12, 20, 'f32')}, vector<4x8xf32>
%s = vector.transfer_write %w, %r[%c4, %c2] : vector<4x8xf32>, {tensor(12, 20, 'f32')}
return %s : {tensor(12, 20, 'f32')}""", results=[tensor(12, 20, "f32")], integers=(0, 9))
    yield simple("signature", {"v": V8, "x": X}, f"""%w = vector.load %x[%c3] : {X}, {V8}
%i = vector.insert %one, %v[2] : f32 into {V8}
%r = arith.addf %i, %w : {V8}
return %r : {V8}""", results=[V8], reference=added)
    yield simple("affine", {"x": X, "y": Y}, f"""affine.for %i = 0 to 7 {{
  %v = affine.vector_load %x[%i * 8 + 4] : {X}, {V8}
  affine.vector_store %v, %y[%i * 8 + 2] : {Y}, {V8}
}}
return""")


def places():
    yield loads("broadcast", f"""%b = vector.extract %v[2] : f32 from {V8}
%s = vector.broadcast %b : f32 to vector<3x8xf32>
%t = vector.broadcast %w : {V8} to vector<3x8xf32>
%p = arith.addf %s, %t : vector<3x8xf32>
%r = vector.extract %p[1] : {V8} from vector<3x8xf32>""")
    yield loads("shape_cast", f"""%m = vector.shape_cast %v : {V8} to vector<2x4xf32>
%t = vector.transpose %m, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
%f = vector.shape_cast %t : vector<4x2xf32> to {V8}
%u = vector.shape_cast %w : {V8} to vector<1x8x1xf32>
%g = vector.shape_cast %u : vector<1x8x1xf32> to {V8}
%r = arith.subf %f, %g : {V8}""")
    yield loads("insert", f"""%e = vector.extract %w[5] : f32 from {V8}
%i = vector.insert %e, %v[1] : f32 into {V8}
%j = vector.insert %one, %i[6] : f32 into {V8}
%k = vector.insertelement %e, %j[%c3 : index] : {V8}
%x0 = vector.extractelement %k[%c4 : index] : {V8}
%q = vector.splat %x0 : {V8}
%r = arith.addf %k, %q : {V8}""")
    yield loads("insert_dynamic", f"""%e = vector.extract %w[%c4] : f32 from {V8}
%i = vector.insert %e, %v[%c2] : f32 into {V8}
%r = arith.addf %i, %v : {V8}""")
    yield loads("slices", f"""%a = vector.extract_strided_slice %v {{offsets = [2], sizes = [4], strides = [1]}} : {V8} to {V4}
%b = vector.insert_strided_slice %a, %w {{offsets = [3], strides = [1]}} : {V4} into {V8}
%r = arith.mulf %b, %w : {V8}""")
    yield loads("rows", f"""%k = arith.constant dense<0.5> : vector<2x8xf32>
%m = vector.insert %v, %k[0] : {V8} into vector<2x8xf32>
%n = vector.insert %w, %m[1] : {V8} into vector<2x8xf32>
%s = arith.constant dense<2.0> : vector<2x2xf32>
%o = vector.insert_strided_slice %s, %n {{offsets = [0, 3], strides = [1, 1]}} : vector<2x2xf32> into vector<2x8xf32>
%p = vector.extract_strided_slice %o {{offsets = [1], sizes = [1], strides = [1]}} : vector<2x8xf32> to vector<1x8xf32>
%q = vector.extract %p[0] : {V8} from vector<1x8xf32>
%r = arith.addf %q, %v : {V8}""")
    yield loads("shuffle", f"""%r = vector.shuffle %v, %w [7, 6, 5, 8, 9, 10, 0, 3] : {V8}, {V8}""")
    yield loads("interleave", f"""%i = vector.interleave %v, %w : {V8} -> vector<16xf32>
%a, %b = vector.deinterleave %i : vector<16xf32> -> {V8}
%c, %d = vector.deinterleave %a : {V8} -> {V4}
%e = vector.interleave %d, %c : {V4} -> {V8}
%r = arith.subf %e, %b : {V8}""")
    yield loads("from_elements", f"""%a = vector.extract %v[0] : f32 from {V8}
%r = vector.from_elements %a, %one, %z, %a : {V4}""", kind=V4)
    yield loads("constants", f"""%a = arith.constant dense<[1.0, 2.0, 4.0, -8.0, 0.5, 0.25, 3.0, 7.0]> : {V8}
%i = arith.constant dense<[0, 3, 6, 9, 12, 15, 18, 21]> : vector<8xi32>
%f = arith.sitofp %i : vector<8xi32> to {V8}
%s = vector.step : vector<8xindex>
%t = arith.index_cast %s : vector<8xindex> to vector<8xi32>
%g = arith.sitofp %t : vector<8xi32> to {V8}
%p = arith.mulf %a, %f : {V8}
%q = arith.addf %p, %g : {V8}
%r = arith.addf %q, %v : {V8}""")
    yield loads("table", f"""%a = arith.constant dense<[[1.0, 2.0, 4.0, -8.0, 0.5, 0.25, 3.0, 7.0], [1.0, 2.0, 5.0, -8.0, 0.5, 0.25, 3.0, 9.0], [0.0, 2.0, 5.0, -8.0, 0.5, 0.75, 3.0, 9.0]]> : vector<3x8xf32>
%b = vector.insert %v, %a[1] : {V8} into vector<3x8xf32>
%s = arith.addf %a, %b : vector<3x8xf32>
%c = vector.extract %s[1] : {V8} from vector<3x8xf32>
%d = vector.extract %s[2] : {V8} from vector<3x8xf32>
%r = arith.mulf %c, %d : {V8}""")
    yield simple("bitcast", {"a": I, "b": memref(64, "i8"), "x": X}, f"""%v = vector.load %a[%c0] : {I}, {V4.replace('f32', 'i32')}
%n = vector.bitcast %v : vector<4xi32> to vector<16xi8>
vector.store %n, %b[%c0] : {memref(64, 'i8')}, vector<16xi8>
%w = vector.load %b[%c8] : {memref(64, 'i8')}, vector<16xi8>
%u = vector.bitcast %w : vector<16xi8> to vector<4xi32>
vector.store %u, %a[%c8] : {I}, vector<4xi32>
%f = vector.load %x[%c0] : {X}, {V4}
%g = vector.bitcast %f : {V4} to vector<4xi32>
vector.store %g, %a[%c16] : {I}, vector<4xi32>
return""")


def scanned(a, b, x):
    """Upstream has no lowering of vector.scan to LLVM."""
    v, b, x = a[1:5, 2:10], b.copy(), x.copy()
    along = numpy.cumsum(v, axis=0)
    before = numpy.concatenate([x[8:12, None], x[8:12, None] + numpy.cumsum(v, axis=1)[:, :-1]], axis=1)
    b[0:4, 0:8] = along
    b[4:8, 3:11] = before
    x[0:8], x[16:20] = along[-1], before[:, -1]
    return [b, x]


def masked_by_data(x, y):
    """Upstream's lowering leaves a mask of this reduction."""
    v, w, y = x[3:11], y[8:16], y.copy()
    mask = v > w
    sums = w + numpy.where(mask, numpy.outer(v, w), 0).sum(axis=1)
    product = numpy.where(mask, v, 1).prod()
    mask[0] = True
    y[16:24] = numpy.where(mask, sums, v)
    y[19] = product
    return [y]


def sums():
    for kind in ("add", "mul", "minimumf", "maximumf", "minnumf", "maxnumf"):
        yield loads(f"reduce_{kind}", f"""%a = vector.reduction <{kind}>, %v : {V8} into f32
%b = vector.reduction <{kind}>, %w, %one : {V8} into f32
%t = vector.splat %a : {V8}
%r0 = vector.insert %b, %t[3] : f32 into {V8}""", value="%r0")
    for kind in ("add", "mul", "minsi", "maxsi", "minui", "maxui", "and", "or", "xor"):
        yield simple(f"reduce_{kind}_i32", {"x": I}, f"""%v = vector.load %x[%c3] : {I}, vector<8xi32>
%a = vector.reduction <{kind}>, %v : vector<8xi32> into i32
%c5 = arith.constant 5 : i32
%b = vector.reduction <{kind}>, %v, %c5 : vector<8xi32> into i32
memref.store %a, %x[%c0] : {I}
memref.store %b, %x[%c1] : {I}
return""")
    yield loads("masked_reduction", f"""%m = vector.constant_mask [5] : {M8}
%a = vector.mask %m {{ vector.reduction <add>, %v, %one : {V8} into f32 }} : {M8} -> f32
%b = vector.mask %m {{ vector.reduction <maximumf>, %w : {V8} into f32 }} : {M8} -> f32
%t = vector.splat %a : {V8}
%r = vector.insert %b, %t[3] : f32 into {V8}""")
    yield loads("masked_by_data", f"""%m = arith.cmpf ogt, %v, %w : {V8}
%p = vector.outerproduct %v, %w : {V8}, {V8}
%a = vector.mask %m {{ vector.reduction <mul>, %v : {V8} into f32 }} : {M8} -> f32
%true = arith.constant true
%k = vector.broadcast %m : {M8} to vector<8x8xi1>
%d = vector.mask %k {{ vector.multi_reduction <add>, %p, %w [1] : vector<8x8xf32> to {V8} }} : vector<8x8xi1> -> {V8}
%n = vector.insert %true, %m[0] : i1 into {M8}
%e = arith.select %n, %d, %v : {M8}, {V8}
%r = vector.insert %a, %e[3] : f32 into {V8}""", tolerance=1e-4, reference=masked_by_data)
    yield simple("multi", {"a": A, "x": X}, f"""%v = vector.transfer_read %a[%c1, %c2], %z : {A}, vector<4x8xf32>
%p = vector.load %x[%c0] : {X}, {V8}
%q = vector.load %x[%c8] : {X}, {V4}
%r = vector.multi_reduction <add>, %v, %p [0] : vector<4x8xf32> to {V8}
%s = vector.multi_reduction <maximumf>, %v, %q [1] : vector<4x8xf32> to {V4}
%t = vector.multi_reduction <mul>, %v, %one [0, 1] : vector<4x8xf32> to f32
vector.store %r, %x[%c16] : {X}, {V8}
vector.store %s, %x[%c0] : {X}, {V4}
memref.store %t, %x[%c4] : {X}
return""", tolerance=1e-4)
    yield simple("scan", {"a": A, "b": B, "x": X}, f"""%v = vector.transfer_read %a[%c1, %c2], %z : {A}, vector<4x8xf32>
%p = vector.load %x[%c0] : {X}, {V8}
%q = vector.load %x[%c8] : {X}, {V4}
%r:2 = vector.scan <add>, %v, %p {{inclusive = true, reduction_dim = 0}} : vector<4x8xf32>, {V8}
%s:2 = vector.scan <add>, %v, %q {{inclusive = false, reduction_dim = 1}} : vector<4x8xf32>, {V4}
vector.transfer_write %r#0, %b[%c0, %c0] : vector<4x8xf32>, {B}
vector.transfer_write %s#0, %b[%c4, %c3] : vector<4x8xf32>, {B}
vector.store %r#1, %x[%c0] : {X}, {V8}
vector.store %s#1, %x[%c16] : {X}, {V4}
return""", reference=scanned)


def products():
    matmul = """{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
  iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}"""
    yield simple("contract", {"a": A, "b": B, "d": D}, f"""%v = vector.transfer_read %a[%c0, %c0], %z : {A}, vector<4x8xf32>
%w = vector.transfer_read %b[%c1, %c2], %z : {B}, vector<8x6xf32>
%u = vector.transfer_read %d[%c2, %c1], %z : {D}, vector<4x6xf32>
%r = vector.contract {matmul} %v, %w, %u : vector<4x8xf32>, vector<8x6xf32> into vector<4x6xf32>
vector.transfer_write %r, %d[%c0, %c0] : vector<4x6xf32>, {D}
return""")
    yield simple("dot", {"x": X, "y": Y}, f"""%v = vector.load %x[%c0] : {X}, {V8}
%w = vector.load %y[%c0] : {Y}, {V8}
%r = vector.contract {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}} %v, %w, %one : {V8}, {V8} into f32
memref.store %r, %y[%c16] : {Y}
return""")
    yield simple("outer", {"x": X, "y": Y, "d": D}, f"""%v = vector.load %x[%c0] : {X}, {V4}
%w = vector.load %y[%c0] : {Y}, {V8}
%u = vector.transfer_read %d[%c2, %c1], %z : {D}, vector<4x8xf32>
%r = vector.outerproduct %v, %w, %u {{kind = #vector.kind<add>}} : {V4}, {V8}
%s = vector.outerproduct %v, %w : {V4}, {V8}
%t = arith.subf %s, %r : vector<4x8xf32>
%a = vector.outerproduct %w, %one : {V8}, f32
vector.transfer_write %t, %d[%c2, %c1] : vector<4x8xf32>, {D}
vector.store %a, %y[%c0] : {Y}, {V8}
return""")
    yield simple("matmul", {"a": memref(12, 16, "f32"), "b": memref(16, 24, "f32"), "c": memref(12, 24, "f32")}, f"""%c12 = arith.constant 12 : index
%c24 = arith.constant 24 : index
scf.for %i = %c0 to %c12 step %c4 {{
  scf.for %j = %c0 to %c24 step %c8 {{
    %start = vector.transfer_read %c[%i, %j], %z {{in_bounds = [true, true]}} : {memref(12, 24, 'f32')}, vector<4x8xf32>
    %sum = scf.for %k = %c0 to %c16 step %c1 iter_args(%acc = %start) -> (vector<4x8xf32>) {{
      %column = vector.transfer_read %a[%i, %k], %z {{in_bounds = [true], permutation_map = affine_map<(i, j) -> (i)>}} : {memref(12, 16, 'f32')}, {V4}
      %row = vector.transfer_read %b[%k, %j], %z {{in_bounds = [true]}} : {memref(16, 24, 'f32')}, {V8}
      %next = vector.outerproduct %column, %row, %acc {{kind = #vector.kind<add>}} : {V4}, {V8}
      scf.yield %next : vector<4x8xf32>
    }}
    vector.transfer_write %sum, %c[%i, %j] {{in_bounds = [true, true]}} : vector<4x8xf32>, {memref(12, 24, 'f32')}
  }}
}}
return""")


def control():
    yield simple("dot_loop", {"x": X, "y": Y}, f"""%c64 = arith.constant 64 : index
%none = arith.constant dense<0.0> : {V8}
%s = scf.for %i = %c0 to %c64 step %c8 iter_args(%acc = %none) -> ({V8}) {{
  %v = vector.load %x[%i] : {X}, {V8}
  %w = vector.load %y[%i] : {Y}, {V8}
  %next = vector.fma %v, %w, %acc : {V8}
  scf.yield %next : {V8}
}}
%t = vector.reduction <add>, %s : {V8} into f32
memref.store %t, %y[%c3] : {Y}
return""", tolerance=1e-4)
    yield loads("carried", f"""%s:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %v, %b = %w) -> ({V8}, {V8}) {{
  %d = vector.shuffle %a, %a [1, 2, 3, 4, 5, 6, 7, 0] : {V8}, {V8}
  %n = arith.addf %d, %b : {V8}
  scf.yield %b, %n : {V8}, {V8}
}}
%r = arith.subf %s#0, %s#1 : {V8}""")
    yield loads("carried_products", f"""%zero = arith.constant dense<0.0> : vector<8x8xf32>
%s:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %zero, %b = %v) -> (vector<8x8xf32>, {V8}) {{
  %n = vector.outerproduct %b, %w, %a {{kind = #vector.kind<add>}} : {V8}, {V8}
  %d = vector.multi_reduction <maximumf>, %n, %b [1] : vector<8x8xf32> to {V8}
  scf.yield %n, %d : vector<8x8xf32>, {V8}
}}
%e = vector.extract %s#0[2] : {V8} from vector<8x8xf32>
%r = arith.addf %e, %s#1 : {V8}""", tolerance=1e-4)
    yield loads("rotated", f"""%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %v) -> ({V8}) {{
  %f = vector.extract_strided_slice %a {{offsets = [4], sizes = [4], strides = [1]}} : {V8} to {V4}
  %g = vector.extract_strided_slice %a {{offsets = [0], sizes = [4], strides = [1]}} : {V8} to {V4}
  %n = vector.interleave %f, %g : {V4} -> {V8}
  scf.yield %n : {V8}
}}""")
    yield loads("inserted", f"""%r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %v) -> ({V8}) {{
  %e = vector.extract %w[%i] : f32 from {V8}
  %n = vector.insert %e, %a[%i] : f32 into {V8}
  scf.yield %n : {V8}
}}""")
    yield loads("branch", f"""%e = vector.extract %w[3] : f32 from {V8}
%p = arith.cmpf ogt, %e, %z : f32
%r, %q = scf.if %p -> ({V8}, f32) {{
  %n = arith.negf %v : {V8}
  scf.yield %n, %e : {V8}, f32
}} else {{
  scf.yield %w, %one : {V8}, f32
}}
memref.store %q, %x[%c0] : {X}""")
    yield loads("while", f"""%r:2 = scf.while (%a = %v, %i = %c0) : ({V8}, index) -> ({V8}, index) {{
  %e = vector.reduction <maximumf>, %a : {V8} into f32
  %limit = arith.constant 40.0 : f32
  %goes = arith.cmpf olt, %e, %limit : f32
  %few = arith.cmpi ult, %i, %c8 : index
  %both = arith.andi %goes, %few : i1
  scf.condition(%both) %a, %i : {V8}, index
}} do {{
^bb0(%b: {V8}, %j: index):
  %k = arith.addi %j, %c1 : index
  %d = arith.addf %b, %b : {V8}
  scf.yield %d, %k : {V8}, index
}}
%s = arith.addf %r#0, %w : {V8}""", value="%s")
    yield loads("select", f"""%m = arith.cmpf olt, %v, %w : {V8}
%s = arith.select %m, %v, %w : {M8}, {V8}
%e = math.exp %s : {V8}
%t = arith.addf %e, %s : {V8}
%h = arith.truncf %t : {V8} to vector<8xf16>
%r = arith.extf %h : vector<8xf16> to {V8}""", tolerance=1e-2)
    yield loads("prints", f"""%a = vector.extract_strided_slice %v {{offsets = [2], sizes = [2], strides = [1]}} : {V8} to vector<2xf32>
%k = arith.constant dense<[[1, 2], [3, 5]]> : vector<2x2xi32>
vector.print %k : vector<2x2xi32>
%r = arith.addf %v, %w : {V8}""", prints="( ( 1, 2 ), ( 3, 5 ) )\n")


def programs():
    yield from memory()
    yield from places()
    yield from sums()
    yield from products()
    yield from control()
