"""What PyTorch takes for the networks of bench/networks.py: a CUDA graph, torch.compile where COMPILED names it; one JSON
object a line.

Medians of replays by the device's clock; fp32 without TF32, `_tf32` with. Weights are random: only shapes matter for time."""

import json
import statistics
import sys

import torch
from torch import nn
from torch.nn import functional


def tf32(allowed):
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def timed(call, calls):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def median(call):
    for _ in range(3):
        call()
    calls = min(20, max(1, int(2000 / max(1, timed(call, 1)))))
    return statistics.median(timed(call, calls) for _ in range(11))


def graph_of(call):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


class Encoder(nn.Module):
    def __init__(self, layers, width, heads, hidden, fused, before=False, masked=False, activation=functional.gelu):
        super().__init__()
        linear = lambda k, n: nn.Linear(k, n)
        self.heads, self.fused, self.before, self.masked = heads, fused, before, masked
        self.layers = nn.ModuleList(nn.ModuleDict({
            "qkv": linear(width, 3 * width) if fused else nn.ModuleList(linear(width, width) for _ in range(3)),
            "out": linear(width, width), "up": linear(width, hidden), "down": linear(hidden, width),
            "norm1": nn.LayerNorm(width), "norm2": nn.LayerNorm(width)}) for _ in range(layers))

    def attention(self, layer, x):
        batch, tokens, width = x.shape
        parts = layer["qkv"](x).chunk(3, -1) if self.fused else [part(x) for part in layer["qkv"]]
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in parts)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.masked)
        return layer["out"](y.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        for layer in self.layers:
            hidden = lambda y: layer["down"](functional.gelu(layer["up"](y)))
            if self.before:
                x = x + self.attention(layer, layer["norm1"](x))
                x = x + hidden(layer["norm2"](x))
            else:
                x = layer["norm1"](x + self.attention(layer, x))
                x = layer["norm2"](x + hidden(x))
        return x


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.encoder, self.head = nn.Conv2d(3, 192, 16, 16), Encoder(6, 192, 3, 768, True, True), nn.Linear(192, 1000)
        self.first, self.position = nn.Parameter(torch.zeros(1, 1, 192)), nn.Parameter(torch.zeros(1, 197, 192))
        self.norm = nn.LayerNorm(192)

    def forward(self, x):
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), self.patch(x).flatten(2).transpose(1, 2)], 1) + self.position
        return self.head(self.norm(self.encoder(x))[:, 0])


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.position = nn.Embedding(1000, 128), nn.Parameter(torch.zeros(1, 128, 128))
        self.encoder, self.norm = Encoder(2, 128, 4, 512, True, True, True), nn.LayerNorm(128)
        self.head = nn.Linear(128, 1000, bias=False)

    def forward(self, x):
        return self.head(self.norm(self.encoder(self.tokens(x) + self.position)))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.position, self.norm = nn.Embedding(1000, 128), nn.Parameter(torch.zeros(1, 24, 128)), nn.LayerNorm(128)
        self.encoder = Encoder(2, 128, 2, 512, False)

    def forward(self, x):
        return self.encoder(self.norm(self.tokens(x) + self.position))


def mlp(*widths, activation=nn.ReLU, last=True):
    layers = [part for k, n in zip(widths, widths[1:]) for part in (nn.Linear(k, n), activation())]
    return nn.Sequential(*(layers if last else layers[:-1]))


class Recurrent(nn.Module):
    def __init__(self, kind, **attributes):
        super().__init__()
        self.layer = kind(128, 128, **attributes)

    def forward(self, x):
        return self.layer(x)[0]


def vision(name):
    import torchvision
    return getattr(torchvision.models, name)(weights=None)


def cases():
    image = lambda batch: torch.randn(batch, 3, 224, 224, device="cuda")
    rows = lambda *shape: torch.randn(*shape, device="cuda")
    tokens = lambda *shape: torch.randint(0, 100, shape, device="cuda")
    for name, batch in [("resnet18", 1), ("resnet18", 32), ("mobilenet_v2", 1), ("mobilenet_v2", 32), ("mobilenet_v3_small", 1),
                        ("squeezenet1_1", 1), ("resnet50", 1)]:
        yield f"{name}_b{batch}", lambda name=name: vision(name), image(batch)
    for fused in (False, True):
        yield "encoder12" + "_fused" * fused, lambda fused=fused: Encoder(12, 768, 12, 3072, fused), rows(1, 128, 768)
    yield "enc256", lambda: Encoder(4, 256, 4, 1024, False), rows(1, 128, 256)
    yield "bert_l2_h128", Bert, tokens(2, 24)
    yield "vit_tiny", Vit, image(1)
    yield "gpt", Gpt, tokens(1, 128)
    for batch in (1, 64):
        yield f"lstm_b{batch}", lambda: Recurrent(nn.LSTM), rows(64, batch, 128)
        yield f"gru_b{batch}", lambda: Recurrent(nn.GRU, bidirectional=True), rows(64, batch, 128)
    yield "mlp3", lambda: mlp(1024, 1024, 1024, 1024), rows(256, 1024)
    for name, width in [("mala_b8000", 400), ("mala_small_b8000", 100)]:
        yield name, lambda width=width: mlp(91, width, width, 11, activation=nn.LeakyReLU, last=False), rows(8000, 91)


COMPILED = ("resnet18", "encoder12", "enc256", "bert", "vit", "gpt") # elsewhere it takes as long as the graph


def measure(name, make, x):
    row = {"case": name}
    with torch.no_grad():
        for suffix, allowed in [("", False), ("_tf32", True)]:
            tf32(allowed)
            network = make().cuda().eval()
            row["graph" + suffix] = median(graph_of(lambda: network(x)).replay)
            if name.startswith(COMPILED) and (not allowed or name == "resnet18_b1"):
                torch._dynamo.reset()
                compiled = torch.compile(network, mode="reduce-overhead")
                row["compile" + suffix] = median(lambda: compiled(x))
    return row


wanted = sys.argv[1:]
for name, make, x in cases():
    if not wanted or name in wanted:
        try:
            print(json.dumps(measure(name, make, x)), flush=True)
        except Exception as error: # the others still count
            print(json.dumps({"case": name, "error": str(error)[:300]}), flush=True)
