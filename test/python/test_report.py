"""module.report(): a table, a picture, and with inputs the time of every kernel against the roofline."""

import xml.etree.ElementTree as xml

import ml2kokkos
import numpy as np
import pytest

MODEL = """<ir_version: 8, opset_import: ["" : 13]>
stack (float[n, 256] x) => (float[n, 256] y)
<float[256, 256] w0, float[256, 256] w1, float[256, 256] w2>
{
  a = MatMul(x, w0)
  b = Tanh(a)
  c = MatMul(b, w1)
  d = Softmax <axis = 1> (c)
  e = MatMul(d, w2)
  y = Add(e, a)
}
"""


@pytest.fixture(scope="module")
def stack(cache):
    from onnx import numpy_helper, parser

    model = parser.parse_model(MODEL)
    random = np.random.default_rng(1)
    for name in ("w0", "w1", "w2"):
        model.graph.initializer.append(numpy_helper.from_array((random.standard_normal((256, 256)) / 16).astype(np.float32), name))
    return ml2kokkos.compile(model, name="stack")


@pytest.fixture(scope="module")
def timed(stack):
    return stack.report(np.zeros((512, 256), np.float32))


def labels_of(svg):
    return [node.text for node in xml.fromstring(svg).iter() if node.tag.endswith("text")]


def test_table_without_inputs(stack):
    report = stack.report()
    assert report.startswith("kernel") and "3 weights, 786 kB" in report
    assert [kernel.label for kernel in report.costs.kernels][:2] == [line.split()[0] for line in report.splitlines()[1:3]]
    assert all(kernel.seconds is None for kernel in report.costs.kernels)


def test_times(timed):
    contractions = [kernel for kernel in timed.costs.kernels if kernel.pattern == "contract"]
    assert len(contractions) == 3
    for kernel in timed.costs.kernels:
        assert 0 < kernel.seconds < 100 * timed.costs.forward # of the same unit; how fast is no test
        assert kernel.least == max((kernel.flops or 0) / timed.costs.limits["f32"], kernel.bytes / timed.costs.limits["bandwidth"]) > 0
    assert contractions[0].flops == 2 * 512 * 256 * 256 # with the extents of the call
    assert "a call, " in timed and "of roofline" in timed.splitlines()[0]


def test_picture(timed):
    texts = labels_of(timed.svg())
    assert any(text.startswith("Time of kernels (") for text in texts)
    assert any(text.startswith("Live ranges in the arena (") for text in texts)
    for kernel in timed.costs.kernels:
        assert kernel.label in texts
    assert any("% of the roofline" in text for text in texts)


def test_live_ranges_do_not_overlap_in_the_arena(timed):
    buffers = [buffer for buffer in timed.costs.buffers if buffer["alive"][0] >= 0]
    assert buffers
    for place, one in enumerate(buffers):
        for other in buffers[:place]:
            together = one["alive"][0] <= other["alive"][1] and other["alive"][0] <= one["alive"][1]
            meet = one["offset"] < other["offset"] + other["bytes"] and other["offset"] < one["offset"] + one["bytes"]
            assert not (together and meet), (one, other)


def test_notebooks_and_files(timed, tmp_path):
    page = timed._repr_html_()
    assert page.startswith("<pre>kernel") and page.endswith("</svg>")
    for name, start in (("a.svg", "<svg"), ("a.html", "<pre>"), ("a.txt", "kernel")):
        timed.save(tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)
    assert repr(timed) == str(timed)


def test_arguments_are_left_as_they_are(axpy):
    x, y = np.ones(100000, np.float32), np.ones(100000, np.float32)
    report = axpy.report(2.0, x, y)
    assert (y == 1).all() and [kernel.seconds > 0 for kernel in report.costs.kernels] == [True]


def test_names_of_a_model_are_no_markup(stack):
    from ml2kokkos.picture import picture
    from ml2kokkos.report import Costs, Kernel

    costs = Costs([Kernel("<script>&", "map", "[1]", 8, 8, 1.0, 0.5)], [{"name": '"<b>', "offset": 0, "bytes": 8, "alive": [0, 0]}], 8, 1.0,
                  {"bandwidth": 1.0, "f32": 1.0, "f64": 1.0})
    assert "<script>&" in labels_of(picture(costs, "<title>"))


def test_what_is_too_small_to_be_launched(mlp):
    report = mlp.report(np.zeros((1, 24), np.float32))
    assert "a call" in report and xml.fromstring(report.svg()) is not None
