"""What sizes are called in the C++: a loop keeps the name that it has in Python."""

import ast


def loop_names(function):
    """Names of the indices of loops and generators."""
    targets = [node.target for node in ast.walk(function) if isinstance(node, (ast.For, ast.comprehension))]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def extents_read(function):
    """(variable, array, dimension) of `rows, columns = a.shape`, `rows = a.shape[0]` and `rows = len(a)`."""
    for node in ast.walk(function):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(target, ast.Tuple) and array_of_shape(node.value):
            yield from ((name.id, array_of_shape(node.value), place) for place, name in enumerate(target.elts) if isinstance(name, ast.Name))
        elif isinstance(target, ast.Name) and isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Constant):
            yield target.id, array_of_shape(node.value.value), node.value.slice.value
        elif isinstance(target, ast.Name) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            if node.value.func.id == "len" and len(node.value.args) == 1 and isinstance(node.value.args[0], ast.Name):
                yield target.id, node.value.args[0].id, 0


def array_of_shape(node):
    """`a` of `a.shape`"""
    is_shape = isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name)
    return node.value.id if is_shape else None


def size_names(function, parameters):
    """By size: the variable that it is read into, or `nk` for k, where a loop has the name of the annotation, or there is none."""
    shapes = {parameter.name: parameter.shape or () for parameter in parameters}
    sizes = {extent for shape in shapes.values() for extent in shape if isinstance(extent, str)}
    loops = loop_names(function)
    taken = loops | sizes | set(shapes)
    unnamed = {f"{array}_size_{place}" for array, shape in shapes.items() for place in range(len(shape))}
    names = {}
    for variable, array, place in extents_read(function):
        shape = shapes.get(array, ())
        size = shape[place] if isinstance(place, int) and -len(shape) <= place < len(shape) else None
        if size in sizes & (loops | unnamed) and size not in names and variable not in taken:
            names[size] = variable
            taken.add(variable)
    for size in sorted((sizes & loops) - set(names)):
        name = f"n{size}" if len(size) == 1 else f"num_{size}"
        if name not in taken:
            names[size] = name
    return names
