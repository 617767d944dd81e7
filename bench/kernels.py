"""Single kernels and small networks, with the libraries that they are timed beside."""

from dataclasses import dataclass, field
from pathlib import Path

import onnx

import graphs


@dataclass
class Case:
    name: str
    path: Path
    peers: list = field(default_factory=lambda: [("onnxruntime",)]) # (library, operation, sizes...), sizes as bench/peers
    kernel: str = "" # only the kernel of this label counts, not the whole of forward()
    options: list = field(default_factory=list) # of ml2kokkos
    extents: dict = field(default_factory=dict) # of symbolic dimensions
    integers: tuple = (0, 2) # what the integers of inputs are drawn from: the second is not among them
    room: int = 0    # for so many rows the workspace is made, if not for those that there are
    flops: int = 0   # of a product: its time becomes a share of the machine's peak
    naive: bool = False # worth timing beside --schedule=naive
    reference: Path = None # what onnxruntime runs instead: the same numbers in a type that it has
    tolerance: float = 1e-4 # of the values, relative to the largest element of an output


RESNET18 = [(3, 224, 64, 7, 2, 3), (64, 56, 64, 3, 1, 1), (64, 56, 128, 3, 2, 1), (64, 56, 128, 1, 2, 0),
            (128, 28, 128, 3, 1, 1), (128, 28, 256, 3, 2, 1), (128, 28, 256, 1, 2, 0), (256, 14, 256, 3, 1, 1),
            (256, 14, 512, 3, 2, 1), (256, 14, 512, 1, 2, 0), (512, 7, 512, 3, 1, 1)]


def _products():
    work = lambda m, k, n: {"flops": 2 * m * k * n}
    for s in [(1024, 1024, 1024), (256, 1024, 1024), (512, 512, 512), (128, 768, 3072), (128, 3072, 768)]:
        yield "gemm", s, graphs.gemm, [("onednn", "gemm"), ("openblas", "gemm")], work(*s) | {"naive": s[0] == 512}
    for s in [(1000, 1001, 999), (17, 13, 29), (100, 7, 1000), (33, 65, 129)]:
        yield "gemm_odd", s, graphs.gemm, [("onednn", "gemm_plain"), ("openblas", "gemm")], work(*s)
    for s in [(1, 1024, 1024), (7, 1024, 1024), (100, 1024, 1024)]: # any number of rows, room for 128
        yield ("gemm_dynamic", s, lambda m, k, n: graphs.gemm("rows", k, n), [("onednn", "gemm_plain"), ("openblas", "gemm")],
               work(*s) | {"extents": {"rows": s[0]}, "room": 128})
    for s in [(100, 64, 64, 64), (1000, 16, 16, 16)]:
        yield "batched_gemm", s, graphs.batched, [("libxsmm", "batched_gemm"), ("onednn", "batched_gemm")], {
            "flops": s[0] * 2 * s[1] * s[2] * s[3]}
    for s in [(1, 1024, 1024), (1, 4096, 4096)]:
        yield "gemv", s, graphs.gemm, [("onednn", "gemm"), ("openblas", "gemm")], {}


# Of two arguments: sizes, element type, which operand is transposed
ARGUMENTS = [((n, n, n), element, "nn") for element in ("f32", "f64") for n in (512, 1024, 2048)] + \
            [(s, element, "nn") for element in ("f32", "f64") for s in ((1000, 1001, 999), (77, 333, 515))] + \
            [((n, n, n), "f32", form) for n in (512, 1024) for form in ("tn", "nt", "tt")] + \
            [((n, n, 1), element, "nn") for element in ("f32", "f64") for n in (1024, 4096)] + \
            [((n, n, n), "f32", "nn") for n in (32, 64)]


def _arguments():
    for s, element, form in ARGUMENTS:
        flags = [letter == "t" for letter in form]
        work = {"flops": 2 * s[0] * s[1] * s[2]} if element == "f32" and s[2] > 1 else {}
        yield (f"product_{element}_{form}", s, lambda m, k, n, e=element, f=flags: graphs.product(m, k, n, e, f),
               [("openblas", f"gemm_{element}", *s, *map(int, flags))], work)
    for element, n in [("f32", 512), ("f32", 1024), ("f64", 512)]: # extents known at run time only
        yield (f"product_dynamic_{element}", (n, n, n), lambda m, k, n, e=element: graphs.product(m, k, n, e, dynamic=True),
               [("openblas", f"gemm_{element}", n, n, n, 0, 0)], {"extents": {"m": n, "k": n, "n": n}})
    for n in (4, 8, 16, 24, 32):
        yield "product_batch", (1 << 16, n, n, n), graphs.batched, [("libxsmm", "batched_gemm")], {}


def _networks():
    yield "mlp", (256, 1024, 1024, 1024), graphs.mlp, [("onednn", "mlp")], {"naive": True}
    for rows in (16, 256):
        yield "mlp_bf16", (rows, 1024, 1024, 1024), graphs.mlp_bf16, [("onednn", "mlp_bf16")], {
            "reference": graphs.mlp_of_bf16, "tolerance": 1e-2}
    for s in [(7, 1024, 1024, 1024), (100, 1024, 1024, 1024)]:
        yield ("mlp_dynamic", s, lambda m, *widths: graphs.mlp("rows", *widths), [("onednn", "mlp")],
               {"extents": {"rows": s[0]}, "room": 128})
    for s in [(1, 100, 64, 64, 4), (1, 300, 256, 128, 64), (1, 72, 64, 64, 10), (64, 72, 64, 64, 10)]:
        yield "small_mlp", s, graphs.mlp, [], {}
    for s in [(1,), (64,)]:
        yield "mala_mlp", s, graphs.mala_mlp, [], {}
    yield "encoder", (2, 768, 12, 3072, 128), graphs.encoder, [], {}


# Of two and three operands, dimensions in any order; the places of operands that are weights
EINSUMS = [("ij,jk->ik", (), dict(i=256, j=256, k=256)), ("ij,kj->ki", (), dict(i=200, j=300, k=100)),
           ("ji,jk->ik", (1,), dict(i=128, j=512, k=256)), ("ij,jk->ki", (1,), dict(i=128, j=512, k=256)),
           ("bij,bjk->bik", (), dict(b=16, i=64, j=96, k=80)), ("bij,bkj->bik", (), dict(b=16, i=64, j=96, k=80)),
           ("ijb,jkb->ikb", (), dict(b=8, i=48, j=64, k=40)), ("bhqd,bhkd->bhqk", (), dict(b=2, h=8, q=64, k=64, d=32)),
           ("bqhd,bkhd->bhqk", (), dict(b=2, h=8, q=64, k=64, d=32)), ("bhqk,bkhd->bqhd", (), dict(b=2, h=8, q=64, k=64, d=32)),
           ("nchw,oc->nohw", (1,), dict(n=2, c=64, h=28, w=28, o=128)), ("nctv,vw->nctw", (1,), dict(n=4, c=64, t=75, v=25, w=25)),
           ("bxi,iox->box", (1,), dict(b=16, x=33, i=32, o=32)), ("abc,dcb->ad", (), dict(a=64, b=24, c=32, d=48)),
           ("ij,ij->i", (), dict(i=1024, j=1024)), ("ij,j->i", (), dict(i=1024, j=1024)), ("i,j->ij", (), dict(i=1024, j=1024)),
           ("btef,efd,bte->btd", (1,), dict(b=2, t=32, e=8, f=64, d=64)), ("bi,ijk,bk->bj", (1,), dict(b=32, i=48, j=40, k=32)),
           ("ij,jk,kl->il", (1, 2), dict(i=64, j=128, k=96, l=128)), ("bth,hd,bsd->bts", (1,), dict(b=4, t=48, h=64, d=64, s=48))]


def _einsums():
    for equation, constants, extents in EINSUMS:
        name = "einsum_" + equation.replace(",", "_").replace("->", "_to_")
        yield name, tuple(extents.values()), lambda *_, e=equation, c=constants, x=extents: graphs.einsum(e, c, **x), [], {}


def _table():
    """Name, sizes, model and peers of every case."""
    yield from _products()
    yield from _arguments()
    yield from _networks()
    yield from _einsums()
    for s in RESNET18:
        yield "conv", s, graphs.conv, [("onednn", "conv")], {"kernel": "conv", "options": ["--winograd=off"],
                                                            "naive": s == (64, 56, 64, 3, 1, 1)}
    for operation in ["softmax", "layer_norm", "gelu", "transpose", "row_sums"]:
        for s in [(256, 512), (1024, 128), (4096, 4096)]:
            yield operation, s, lambda *s, operation=operation: graphs.rows(operation, *s), [("onednn", operation)], {}
    for s in [(256, 512), (4096, 4096)]:
        yield "add_relu", s, graphs.add_relu, [("memory", "triad")], {}


def find(folder, text):
    """The cases whose names contain the text; their models are written into the folder."""
    cases = []
    for operation, sizes, make, peers, more in _table():
        name = f"{operation}_{'x'.join(map(str, sizes))}"
        if text not in name:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.onnx"
        onnx.save(make(*sizes), path)
        if reference := more.pop("reference", None):
            more["reference"] = path.with_suffix(".reference.onnx")
            onnx.save(reference(*sizes), more["reference"])
        known = [peer if len(peer) > 2 else (*peer, *sizes) for peer in peers]
        cases.append(Case(name, path, known or [("onnxruntime",)], **more))
    return cases
