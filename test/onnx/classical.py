"""Classical models (ai.onnx.ml) with onnxruntime's values: trees of every kind of split, linear models, support vectors, and what
pipelines do to features before them."""

from types import SimpleNamespace

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

DOMAIN = "ai.onnx.ml"
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def case(name, kind, x, outputs=1, opset=3, known=None, **attributes):
    """One node on x; the types and shapes of its results are onnxruntime's, of x itself or of one of a type that it knows."""
    arrays = x if isinstance(x, list) else [x]
    alike = arrays if known is None else [known]
    names = ["x"] if len(arrays) == 1 else [f"x{i}" for i in range(len(arrays))]
    node = helper.make_node(kind, names, [f"y{i}" for i in range(outputs)], name, domain=DOMAIN, **attributes)
    info = lambda label, array: helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    def model(given, results):
        graph = helper.make_graph([node], name, [info(label, array) for label, array in zip(names, given)], results)
        return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, opset)])

    open_results = [helper.make_empty_tensor_value_info(label) for label in node.output]
    session = onnxruntime.InferenceSession(model(alike, open_results).SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, dict(zip(names, alike)))
    saved = lambda label, array: numpy_helper.from_array(np.ascontiguousarray(array), label)
    data = [saved(label, array) for label, array in zip(names, arrays)], [saved(*pair) for pair in zip(node.output, expected)]
    return SimpleNamespace(name=f"test_{name}", model=model(arrays, [info(*pair) for pair in zip(node.output, expected)]), data_sets=[data])


class Forest:
    """Random trees whose nodes have the numbers of any order."""

    def __init__(self, seed, trees, depth, columns, modes=("BRANCH_LEQ",), missing=(0,), values=None):
        self.random = np.random.default_rng(seed)
        self.columns, self.modes, self.missing = columns, modes, missing
        self.values = values # of thresholds, where equality should happen
        self.lists = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                          "missing_value_tracks_true")}
        self.leaves = []
        for tree in range(trees):
            self.next = 0
            self.node(tree, depth)

    def node(self, tree, depth):
        random, number = self.random, self.next
        self.next += 1
        is_leaf = depth == 0 or (number > 0 and random.random() < .2)
        at = len(self.lists["nodeids"])
        threshold = random.choice(self.values) if self.values is not None else random.standard_normal()
        row = dict(treeids=tree, nodeids=number, featureids=0 if is_leaf else int(random.integers(self.columns)),
                   values=0. if is_leaf else float(np.float32(threshold)), modes="LEAF" if is_leaf else str(random.choice(self.modes)),
                   truenodeids=0, falsenodeids=0, missing_value_tracks_true=0 if is_leaf else int(random.choice(self.missing)))
        for key, value in row.items():
            self.lists[key].append(value)
        if is_leaf:
            self.leaves.append((tree, number))
        else:
            self.lists["truenodeids"][at] = self.node(tree, depth - 1)
            self.lists["falsenodeids"][at] = self.node(tree, depth - 1)
        return number

    def attributes(self, prefix, targets, each=None, low=-1.):
        """`each(tree)`: the targets that the leaves of a tree name; all of them otherwise."""
        rows = [(tree, leaf, target) for tree, leaf in self.leaves
                for target in (each(tree) if each else range(targets))]
        weights = self.random.uniform(low, 1, len(rows)).astype(np.float32)
        owners, leaves, ids = map(list, zip(*rows))
        found = {f"nodes_{key}": values for key, values in self.lists.items()}
        return {**found, f"{prefix}_treeids": owners, f"{prefix}_nodeids": leaves, f"{prefix}_ids": ids,
                f"{prefix}_weights": [float(w) for w in weights]}


def rows(seed, count, columns, dtype=np.float32, odd=False):
    random = np.random.default_rng(seed)
    x = random.standard_normal((count, columns)).astype(dtype)
    if odd: # numbers that occur as thresholds, and some that are none
        x = np.round(x)
        x[random.random(x.shape) < .2] = np.nan
    return x


def regressors():
    regressor = lambda name, forest, x, targets=1, each=None, opset=3, **more: case(
        f"trees_{name}", "TreeEnsembleRegressor", x, opset=opset, n_targets=targets, **forest.attributes("target", targets, each), **more)
    whole = [-2., -1., 0., 1., 2.]
    return [
        regressor("one_target", Forest(1, 20, 6, 9), rows(2, 37, 9)),
        regressor("few_rows", Forest(3, 21, 6, 9), rows(4, 3, 9)),
        regressor("targets", Forest(5, 9, 5, 4), rows(6, 21, 4), 3, base_values=[1., -2., 300.]),
        regressor("own_targets", Forest(7, 12, 5, 4), rows(8, 21, 4), 4, lambda tree: [tree % 4], base_values=[.5, 1., 2., 3.]),
        regressor("average", Forest(9, 10, 4, 5), rows(10, 21, 5), aggregate_function="AVERAGE", base_values=[10.]),
        regressor("least", Forest(11, 10, 4, 5), rows(12, 21, 5), 2, aggregate_function="MIN"),
        regressor("most", Forest(13, 10, 4, 5), rows(14, 21, 5), 2, aggregate_function="MAX"),
        regressor("doubles", Forest(15, 10, 5, 5), rows(16, 21, 5, np.float64), 2),
        regressor("integers", Forest(17, 10, 5, 5, values=whole), np.round(3 * rows(18, 21, 5)).astype(np.int64), opset=1,
                  known=np.round(3 * rows(18, 21, 5))),
        regressor("missing_true", Forest(19, 10, 6, 5, ["BRANCH_LT"], [1], whole), rows(20, 33, 5, odd=True)),
        regressor("missing_mixed", Forest(21, 10, 6, 5, ["BRANCH_LT"], [0, 1], whole), rows(22, 33, 5, odd=True)),
        *(regressor(f"{mode.lower()}", Forest(23, 10, 6, 5, [mode], [0], whole), rows(24, 33, 5, odd=True)) for mode in MODES),
        regressor("all_kinds", Forest(25, 20, 6, 5, MODES, [0], whole), rows(26, 33, 5, odd=True)),
        regressor("leaf_alone", Forest(27, 5, 0, 5), rows(28, 9, 5)),
    ]


def classifiers():
    def classifier(name, forest, x, labels, each=None, low=-1., **more):
        return case(f"tree_classes_{name}", "TreeEnsembleClassifier", x, 2, classlabels_int64s=labels,
                    **forest.attributes("class", len(labels), each, low), **more)

    first = lambda tree: [0]
    return [
        classifier("three", Forest(31, 10, 5, 6), rows(32, 33, 6), [0, 1, 2]),
        classifier("softmax", Forest(33, 12, 5, 6), rows(34, 33, 6), [5, -3, 9], lambda tree: [tree % 3], post_transform="SOFTMAX"),
        classifier("softmax_zero", Forest(35, 12, 5, 6), rows(36, 33, 6), [5, -3, 9], post_transform="SOFTMAX_ZERO"),
        classifier("base", Forest(37, 12, 5, 6), rows(38, 33, 6), [0, 1, 2], base_values=[.5, .25, 0.], post_transform="LOGISTIC"),
        classifier("two_scores", Forest(39, 10, 5, 6), rows(40, 33, 6), [0, 1], first),
        classifier("two_logistic", Forest(41, 10, 5, 6), rows(42, 33, 6), [4, 7], first, post_transform="LOGISTIC", base_values=[.3]),
        classifier("two_probabilities", Forest(43, 1, 5, 6), rows(44, 33, 6), [0, 1], first, low=0.),
    ]


def listed():
    """TreeEnsemble of version 5: nodes and leaves in lists of their own, splits by membership."""
    floats = lambda values: helper.make_tensor("t", TensorProto.FLOAT, [len(values)], np.array(values, np.float32))
    modes = helper.make_tensor("modes", TensorProto.UINT8, [5], np.array([0, 6, 1, 6, 0], np.uint8))
    return case("trees_by_membership", "TreeEnsemble", np.round(2 * rows(46, 40, 3)), opset=5, n_targets=2, nodes_splits=floats([0, 0, 1, 0, -1]),
                nodes_featureids=[0, 1, 2, 0, 1], nodes_modes=modes, nodes_truenodeids=[1, 0, 2, 4, 5], nodes_falsenodeids=[2, 1, 3, 4, 6],
                nodes_trueleafs=[0, 1, 1, 1, 1], nodes_falseleafs=[0, 1, 1, 0, 1], tree_roots=[0, 3], leaf_targetids=[0, 1, 0, 1, 1, 0, 1],
                leaf_weights=floats([1, 2, 4, 8, 16, 32, 64]), membership_values=floats([-1, 1, 2, np.nan, 0, 3, np.nan]), aggregate_function=1)


def linear():
    numbers = lambda seed, count: [float(v) for v in np.random.default_rng(seed).standard_normal(count).astype(np.float32)]
    regressor = lambda name, **more: case(f"linear_{name}", "LinearRegressor", rows(50, 11, 7), **more)
    classes = lambda name, labels, count, how, **more: case(
        f"linear_classes_{name}", "LinearClassifier", rows(51, 19, 7), 2, opset=1, classlabels_ints=labels, coefficients=numbers(52, 7 * count),
        intercepts=numbers(53, count), post_transform=how, **more)
    return [
        regressor("one", coefficients=numbers(54, 7), intercepts=[.5]),
        regressor("three", coefficients=numbers(55, 21), intercepts=numbers(56, 3), targets=3),
        classes("two", [0, 1], 1, "LOGISTIC"),
        classes("two_rows", [3, 8], 2, "SOFTMAX"),
        classes("three", [0, 1, 2], 3, "SOFTMAX"),
        classes("three_scores", [7, 5, 3], 3, "NONE"),
    ]


def machines():
    random = np.random.default_rng(60)
    numbers = lambda count: [float(v) for v in random.standard_normal(count).astype(np.float32)]
    regressor = lambda kind, **more: case(
        f"vectors_{kind.lower()}{'_inside' if more else ''}", "SVMRegressor", rows(61, 19, 5), opset=1, kernel_type=kind, kernel_params=[.25, .5, 3.], n_supports=12,
        support_vectors=numbers(60), coefficients=numbers(12), rho=numbers(1), post_transform="NONE", **more)

    def classes(name, labels, per_class):
        count, vectors = len(labels), sum(per_class)
        return case(f"vector_classes_{name}", "SVMClassifier", rows(62, 25, 5), 2, opset=1, classlabels_ints=labels, kernel_type="RBF",
                    kernel_params=[.2, 0., 3.], support_vectors=numbers(vectors * 5), coefficients=numbers((count - 1) * vectors),
                    rho=numbers(count * (count - 1) // 2), vectors_per_class=per_class, post_transform="NONE")

    return [*map(regressor, ("RBF", "POLY", "LINEAR", "SIGMOID")), regressor("RBF", one_class=1), classes("two", [0, 1], [6, 7]),
            classes("four", [2, 4, 6, 8], [3, 5, 4, 2])]


def features():
    x = rows(70, 9, 6)
    x[3] = 0
    holes = np.where(rows(71, 9, 6) > 1, np.nan, x).astype(np.float32)
    whole = np.random.default_rng(72).integers(-2, 4, (9, 6))
    return [
        case("scaler", "Scaler", x, opset=1, offset=[.5, 1., 0., -1., 2., 3.], scale=[2., .5, 1., 4., 3., .25]),
        case("scaler_one", "Scaler", whole, opset=1, offset=[.5], scale=[2.]),
        *(case(f"normalizer_{norm.lower()}", "Normalizer", x, opset=1, norm=norm) for norm in ("L1", "L2")),
        case("binarizer", "Binarizer", x, opset=1, threshold=.25),
        case("imputer", "Imputer", holes, opset=1, imputed_value_floats=[1., 2., 3., 4., 5., 6.], replaced_value_float=float("nan")),
        case("imputer_integers", "Imputer", whole, opset=1, imputed_value_int64s=[7], replaced_value_int64=-1),
        case("extractor", "ArrayFeatureExtractor", [x, np.array([4, 0, 2])], opset=1),
        case("vectorizer", "FeatureVectorizer", [x, x[:, :2]], opset=1, inputdimensions=[6, 2]),
        case("labels", "LabelEncoder", whole, opset=2, keys_int64s=[-1, 2, 0, 5], values_floats=[.5, 1.5, 2.5, 3.5], default_float=-7.),
        case("labels_of_floats", "LabelEncoder", np.array([1, 2, 3, .5], np.float32), opset=2, keys_floats=[.5, 2., 1.],
             values_int64s=[10, 20, 30]),
        case("extractor_labels", "ArrayFeatureExtractor", [np.array([[5, 6, 7]]), np.array([2, 0, 1, 1])], opset=1),
        case("one_hot", "OneHotEncoder", whole[:, :1], opset=1, cats_int64s=[-1, 0, 3]),
    ]


def cases():
    return [*regressors(), *classifiers(), listed(), *linear(), *machines(), *features()]
