"""What test_torch.py asks of one PyTorch: runs under the interpreter that has it, prints a line of JSON per question."""

import importlib.util
import json
import sys
import traceback
from pathlib import Path

import ml2kokkos
import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run/mlir"))
import spellings # noqa: E402

WORK = Path(sys.argv[1])


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.5), nn.Linear(16, 3))

    def forward(self, x):
        return self.layers(x)


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.classes = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.Linear(8, 4)
        self.norm.running_mean.uniform_(-1, 1)

    def forward(self, image):
        x = torch.relu(self.norm(self.conv(image)))
        return self.classes(x.mean((2, 3)))


class Pair(nn.Module):
    def forward(self, a, b):
        return a + b, a * b


class Singular(nn.Module):
    def forward(self, x):
        return torch.linalg.svdvals(x)


def close(result, expected):
    np.testing.assert_allclose(np.asarray(result), expected.detach().numpy(), rtol=1e-5, atol=1e-5)
    return list(result.shape)


def perceptron():
    model = Perceptron()
    model.train()
    module = ml2kokkos.from_torch(model, torch.randn(5, 8), dynamic=True)
    assert model.training # as it was, exported without the dropout
    model.eval()
    for batch in (1, 7, 100):
        x = torch.randn(batch, 8)
        close(module.forward(x.numpy()), model(x))
    return repr(module).split(",")[0]


def images():
    model, image = Images(), torch.randn(2, 3, 16, 16)
    module = ml2kokkos.from_torch(model, (image,), name="images")
    model.eval()
    return close(module.forward(image.numpy()), model(image))


def several():
    a, b = torch.randn(3, 4), torch.randn(3, 4)
    module = ml2kokkos.from_torch(Pair(), (a, b), input_names=["left", "right"], output_names=["sum", "product"], name="pair")
    total, product = module.forward(left=a.numpy(), right=b.numpy())
    close(total, a + b), close(product, a * b)
    return [value.name for value in (*module.inputs, *module.outputs)]


def dlpack():
    """Tensors are read and written where they are."""
    torch.manual_seed(1)
    model, x = nn.Linear(8, 3).eval(), torch.randn(6, 8)
    module = ml2kokkos.from_torch(model, x, name="linear")
    result = torch.full((6, 3), float("nan"))
    assert module.forward(x, output=result) is result
    close(module.forward(x), model(x))
    return close(result, model(x))


def gradient():
    """Is read like any other tensor; nothing is recorded."""
    module = ml2kokkos.from_torch(Pair(), (torch.ones(3, 4), torch.ones(3, 4)), input_names=["left", "right"], output_names=["sum", "product"],
                                  name="pair")
    total, _ = module.forward(torch.ones(3, 4, requires_grad=True), torch.ones(3, 4))
    return close(total, torch.full((3, 4), 2.0))


def exporter():
    ml2kokkos.from_torch(Singular(), torch.randn(3, 3), name="singular")


NET = """
from torch import nn
class Net(nn.Module):
    def __init__(self, hidden=6):
        super().__init__()
        self.first, self.last = nn.Linear(4, hidden), nn.Linear(hidden, 2)
    def forward(self, x):
        return self.last(self.first(x).relu())
def small():
    return Net(3)
"""


def translate():
    from ml2kokkos.__main__ import main

    folder = WORK / "translate"
    folder.mkdir(exist_ok=True)
    (folder / "net.py").write_text(NET)
    command = ["translate", str(folder / "net.py") + ":Net", "--example", "1,4", "--dynamic", "-o", str(folder / "net.cpp")]
    assert main(command) == 0
    sys.path.insert(0, str(folder))
    import net

    torch.save(net.small().state_dict(), str(folder / "small.pt"))
    command = ["translate", str(folder / "net.py") + ":small", "--example", "5,4", "-o", str(folder / "small.cpp"), "--weights",
               str(folder / "small.pt"), "--onnx", str(folder / "small.onnx"), "--", "--namespace=tiny"]
    assert main(command) == 0 and (folder / "small.onnx").is_file()
    assert "namespace tiny" in (folder / "small.hpp").read_text()
    wrong = [["net.py:Nothing"], ["nowhere.py:Net"], ["net.py"]]
    codes = [main(["translate", str(folder / name[0]), "--example", "1,4", "-o", str(folder / "x.cpp")]) for name in wrong]
    codes.append(main(["translate", str(folder / "net.py") + ":Net", "--example", "1;4", "-o", str(folder / "x.cpp")]))
    assert codes == [3] * 4 and not (folder / "x.cpp").exists()
    return (folder / "net.hpp").read_text().split("\n")[0]


class Block(nn.Module):
    """Of ResNet18."""

    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside)
        self.conv2, self.bn2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.shortcut = nn.Sequential() if stride == 1 else nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False),
                                                                          nn.BatchNorm2d(outside))

    def forward(self, x):
        return torch.relu(self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))) + self.shortcut(x))


def resnet18():
    stages = [Block(before, width, stride) for before, width, step in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))
              for before, stride in ((before, step), (width, 1))]
    return nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *stages,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).eval()


def kernels_of(path):
    """The printed kernels and forward(), without comments and names."""
    from ml2kokkos.tool import find_tool, run_tool

    source = path.with_name(f"{path.stem}_{path.suffix[1:]}.cpp")
    run_tool(find_tool(), path, "--namespace=model", "-o", source)
    return spellings.kernels(source.read_text())


def both_ways(model, example, name):
    """Kernels of the ONNX export and of torch-mlir's."""
    from ml2kokkos.linalg_export import torch_text
    from ml2kokkos.torch_export import export

    folder = WORK / "both_ways"
    folder.mkdir(exist_ok=True)
    export(model, example, str(folder / f"{name}.onnx"))
    text = torch_text(model, (example,), name, ["input"], ["output"], False)
    (folder / f"{name}.mlir").write_text(text)
    return kernels_of(folder / f"{name}.onnx"), kernels_of(folder / f"{name}.mlir")


def same_kernels():
    for model, example, name in ((Perceptron().eval(), torch.randn(5, 8), "mlp"), (resnet18(), torch.randn(1, 3, 224, 224), "resnet18")):
        by_onnx, by_linalg = both_ways(model, example, name)
        assert by_onnx == by_linalg, (name, by_onnx, by_linalg)
    return by_onnx.count("static void")


def torch_mlir():
    model = Perceptron()
    module = ml2kokkos.from_torch(model, torch.randn(5, 8), dynamic=True, exporter="torch-mlir", name="by_linalg")
    assert model.training
    model.eval()
    for batch in (1, 7, 100):
        x = torch.randn(batch, 8)
        close(module.forward(x), model(x))
    return repr(module).split(",")[0]


def jax_function():
    import jax
    import jax.numpy as jnp

    weight, bias = np.random.default_rng(1).random((8, 3), np.float32), np.arange(3, dtype=np.float32)

    def classes(x, scale):
        return jax.nn.softmax(jnp.tanh(x @ weight + bias) * scale, axis=-1), jax.nn.gelu(x, approximate=False)

    x, scale = np.random.default_rng(2).standard_normal((5, 8)).astype(np.float32), np.float32(1.5)
    module = ml2kokkos.from_jax(classes, (x, scale))
    for mine, theirs in zip(module.forward(jnp.asarray(x), jnp.asarray(scale)), classes(x, scale)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    return [str(value) for value in (*module.inputs, *module.outputs)]


def jax_images():
    import jax
    import jax.numpy as jnp

    kernel = np.random.default_rng(1).standard_normal((3, 3, 2, 4)).astype(np.float32)

    def net(image):
        y = jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = jax.lax.reduce_window(jax.nn.relu(y), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return y.reshape(y.shape[0], -1) @ np.full((64, 3), 0.1, np.float32)

    image = np.random.default_rng(2).standard_normal((2, 8, 8, 2)).astype(np.float32)
    result = ml2kokkos.from_jax(net, image).forward(image)
    np.testing.assert_allclose(result, net(image), rtol=1e-5, atol=1e-5)
    return list(result.shape)


def jax_refused():
    import jax.numpy as jnp

    ml2kokkos.from_jax(lambda x: jnp.linalg.svd(x)[1], np.eye(3, dtype=np.float32), name="svd")


NEEDS = {"torch_mlir": "torch_mlir", "same_kernels": "torch_mlir", "jax_function": "jax", "jax_images": "jax", "jax_refused": "jax"}
torch.manual_seed(0)
for name in (torch_mlir, same_kernels, jax_function, jax_images, jax_refused, perceptron, images, several, dlpack, gradient, exporter, translate):
    needed = NEEDS.get(name.__name__)
    try:
        answer = {"skipped": needed} if needed and not importlib.util.find_spec(needed) else {"answer": name()}
    except Exception as error:
        answer = {"error": type(error).__name__, "text": str(error), "trace": traceback.format_exc()}
    print(json.dumps({"question": name.__name__, "torch": torch.__version__, **answer}), flush=True)
