"""What PyTorch (cuBLAS, cuDNN) takes for the cases of test/blocks/DeviceSpeed.cpp: one JSON object a line.

A call inside a CUDA graph, the median of replays; fp32 without TF32."""

import json
import statistics
import sys

import torch
from torch.nn import functional

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
GEMMS = [(4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024), (512, 512, 512), (256, 1024, 1024), (128, 768, 768),
         (128, 768, 2304), (128, 768, 3072), (128, 3072, 768), (8192, 512, 512), (1000, 1001, 999), (77, 333, 515),
         (1, 4096, 4096), (8000, 91, 400), (8000, 400, 400), (8000, 400, 11)]


def numbers(*shape):
    return torch.rand(*shape, device="cuda") * 2 - 1


def captured(call, calls):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph


def microseconds(graph):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def time_of(call):
    for _ in range(3):
        call()
    graph = captured(call, 1)
    microseconds(graph)
    once = max(.5, microseconds(graph))
    calls = min(20, max(1, int(1000 / once)))
    graph = captured(call, calls)
    microseconds(graph)
    return statistics.median(microseconds(graph) / calls for _ in range(min(21, max(5, int(2e4 / (once * calls))))))


def cases():
    for m, k, n in GEMMS:
        a, b, out = numbers(m, k), numbers(k, n), numbers(m, n)
        yield f"gemm_{m}x{k}x{n}", lambda a=a, b=b, out=out: torch.mm(a, b, out=out)
    x = numbers(4096, 4096)
    yield "softmax_4096x4096", lambda: torch.softmax(x, 1)
    yield "layer_norm_4096x4096", lambda: functional.layer_norm(x, (4096,))
    x, z, y = numbers(8192, 8192), numbers(8192, 8192), numbers(8192, 8192)
    add_relu = torch.compile(lambda a, b: torch.relu(a + b))
    yield "copy_8192x8192", lambda: y.copy_(x)
    yield "add_relu_8192x8192", lambda: add_relu(x, z)
    yield "gelu_8192x8192", lambda: functional.gelu(x)
    yield "transpose_8192x8192", lambda: y.copy_(x.t())
    for pairs, n in [(1 << 20, 8), (1 << 20, 16), (1 << 18, 32)]:
        a, b, out = numbers(pairs, n, n), numbers(pairs, n, n), numbers(pairs, n, n)
        yield f"batched_gemm_{pairs}x{n}x{n}x{n}", lambda a=a, b=b, out=out: torch.bmm(a, b, out=out)


    for images in (1, 32): # the layers of ResNet18: kernel, stride, channels, size, outputs
        for k, s, c, h, o in [(7, 2, 3, 224, 64), (3, 1, 64, 56, 64), (3, 2, 64, 56, 128), (3, 1, 128, 28, 128), (1, 2, 64, 56, 128),
                              (3, 2, 128, 28, 256), (3, 1, 256, 14, 256), (1, 2, 128, 28, 256), (3, 2, 256, 14, 512),
                              (3, 1, 512, 7, 512), (1, 2, 256, 14, 512)]:
            x, w = numbers(images, c, h, h), numbers(o, c, k, k)
            yield (f"conv_b{images}_{k}x{k}s{s}_{c}-{o}@{h}",
                   lambda x=x, w=w, s=s, k=k: functional.conv2d(x, w, stride=s, padding=k // 2))


wanted = sys.argv[1] if len(sys.argv) > 1 else ""
for name, call in cases():
    if wanted in name:
        print(json.dumps({"case": name, "peer_us": time_of(call)}), flush=True)
