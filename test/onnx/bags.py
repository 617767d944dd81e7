"""EmbeddingBag as PyTorch's exporter writes it: a Loop that appends one row to a sequence for each bag: models for test/frontend/onnx/bags.test."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node
LENGTH, WIDTH, TABLE = 5, 6, 20
CONSTANTS = {"zero": 0, "one": 1, "two": 2, "length": LENGTH, "flat": [-1], "first": [0]}


def graph(name, nodes, outputs, inputs=(), constants=()):
    made = helper.make_graph(nodes, name, [], [helper.ValueInfoProto(name=output) for output in outputs], list(constants))
    made.input.extend(helper.ValueInfoProto(name=given) for given in inputs)
    return made


def either(condition, output, yes, no):
    """If with the nodes of its branches; the last one of each makes the result."""
    branches = [graph("branch", nodes, [nodes[-1].output[0]]) for nodes in (yes, no)]
    return node("If", [condition], [output], then_branch=branches[0], else_branch=branches[1])


def reduced(kind):
    """The row of a bag that is not empty, from rows `from` to `to`; the last bag ends where the indices do."""
    part, last = node("Slice", ["rows", "from", "to"], ["part"]), [node("Sub", ["count", "one"], ["before"]), node("Equal", ["i", "before"], ["is_last"])]
    if kind == "Sum":
        return [part, node("ReduceSum", ["part", "first"], ["row_full"])]
    if kind == "Max":
        return [*last, either("is_last", "chosen", [node("Slice", ["rows", "from", "all"], ["rest"])], [part]),
                node("ReduceMax", ["chosen", "first"], ["row_full"])]
    divided = [node("Cast", ["left"], ["divisor"], to=TensorProto.FLOAT), node("Div", ["total", "divisor"], ["quotient"])]
    return [part, *last, either("is_last", "row_full", [
        node("ReduceSum", ["part", "first"], ["total"]), node("Shape", ["view"], ["known"], start=0, end=1), node("Sub", ["known", "from"], ["left"]),
        node("CastLike", ["zero", "left"], ["least"]), node("Greater", ["left", "least"], ["has_some"]),
        either("has_some", "row_last", divided, [node("Identity", ["total"], ["same"])])], [node("ReduceMean", ["part", "first"], ["row_mean"])])]


def body(kind):
    empty = graph("nothing", [], ["zeros"], constants=[numpy_helper.from_array(np.zeros((1, WIDTH), np.float32), "zeros")])
    nodes = [node("Reshape", ["i", "flat"], ["at"]), node("CastLike", ["one", "at"], ["one_cast"]), node("Add", ["at", "one_cast"], ["following"]),
             node("Slice", ["offsets", "at", "following"], ["from"]), node("CastLike", ["two", "at"], ["two_cast"]),
             node("Add", ["at", "two_cast"], ["behind"]), node("Slice", ["offsets", "following", "behind"], ["to"]), node("Equal", ["from", "to"], ["is_empty"]),
             node("If", ["is_empty"], ["row"], then_branch=empty, else_branch=graph("something", reduced(kind), ["row_full"])),
             node("SequenceInsert", ["kept", "row"], ["longer"]), node("Add", ["i", "one"], ["next"]), node("Less", ["next", "count"], ["more"])]
    return graph("each", nodes, ["more", "next", "longer"], ["step", "on", "i", "kept"])


def bags(kind, batch="batch"):
    """A model of indices [batch, LENGTH]."""
    nodes = [node("Shape", ["x"], ["size"], start=0, end=1), node("Squeeze", ["size"], ["number"]), node("Mul", ["number", "length"], ["end"]),
             node("Range", ["zero", "end", "length"], ["starts"]), node("Reshape", ["x", "flat"], ["view"]), node("Reshape", ["view", "flat"], ["indices"]),
             node("Gather", ["table", "indices"], ["rows"]), node("Shape", ["indices"], ["all"]), node("Size", ["starts"], ["count"]),
             node("Concat", ["starts", "all"], ["offsets"], axis=0), node("SequenceEmpty", [], ["empty"], name="empty"), node("Less", ["zero", "count"], ["some"]),
             node("Loop", ["", "some", "zero", "empty"], ["last", "sequence"], name="bags", body=body(kind)),
             node("ConcatFromSequence", ["sequence"], ["y"], axis=0, name="joined")]
    table = np.random.default_rng(23).standard_normal((TABLE, WIDTH)).astype(np.float32)
    constants = [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in CONSTANTS.items()] + [numpy_helper.from_array(table, "table")]
    made = helper.make_graph(nodes, f"bags_{kind.lower()}", [helper.make_tensor_value_info("x", TensorProto.INT64, [batch, LENGTH])],
                             [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, WIDTH])], constants)
    return helper.make_model(made, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
