"""What test_torch.py asks of one PyTorch: runs under the interpreter that has it, prints a line of JSON per question."""

import json
import os
import sys
import traceback
from pathlib import Path

import ml2kokkos
import numpy as np
import torch
from torch import nn

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


torch.manual_seed(0)
for name in (perceptron, images, several, dlpack, gradient, exporter, translate):
    try:
        answer = {"answer": name()}
    except Exception as error:
        answer = {"error": type(error).__name__, "text": str(error), "trace": traceback.format_exc()}
    print(json.dumps({"question": name.__name__, "torch": torch.__version__, **answer}), flush=True)
