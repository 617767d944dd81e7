"""The slow side of a call: arrays that cannot be used in place, and what is wrong with arguments that are refused.

docs/python.md states the rules. call.hpp asks here only where an array is not in C order, of the right element type and in
memory that can be used."""

import sys

import numpy as np

HOST = 1 # as DLPack numbers memory


def device_of(array):
    """Which memory it lies in, as DLPack numbers it; that of the host where it does not say."""
    return int(array.__dlpack_device__()[0]) if hasattr(array, "__dlpack_device__") else HOST


def has_buffer(given):
    """Whether others can read its memory: array.array, ctypes and memoryview have that."""
    try:
        memoryview(given)
    except TypeError:
        return False
    return True


class Face:
    """How messages call the arguments of one model; made once per Module."""

    def __init__(self, interface, device_type=HOST, device_number=0):
        self.interface, self.device_type, self.device_number = interface, device_type, device_number
        self.dtypes = tuple(np.dtype(argument.dtype) for argument in interface.arguments)

    def about(self, number):
        argument = self.interface.arguments[number]
        return f'{self.interface.name}: {"output" if argument.is_output else "input"} "{argument.name}"'

    def as_array(self, number, given):
        """An ndarray of the memory of `given`; lists and the like are refused."""
        if isinstance(given, np.ndarray):
            return given
        if isinstance(given, (bool, int, float)) and not self.interface.arguments[number].shape:
            return np.asarray(given, self.dtypes[number])
        if device_of(given) != HOST:
            raise TypeError(f"{self.about(number)} lies in the memory of {'another' if self.device_type != HOST else 'a'} device; copy it to the host first")
        kinds = ("__array_interface__", "__array__", "__dlpack__")
        if isinstance(given, np.generic) or any(hasattr(given, kind) for kind in kinds) or has_buffer(given):
            try:
                return np.from_dlpack(given) if hasattr(given, "__dlpack__") and not hasattr(given, "__array__") else np.asarray(given)
            except Exception as error:
                raise TypeError(f"{self.about(number)}: {error}") from error
        raise TypeError(f"{self.about(number)} is a {type(given).__name__}, not an array")

    def check_dtype(self, number, array):
        wanted = self.dtypes[number]
        if array.dtype != wanted:
            raise TypeError(f"{self.about(number)} is {array.dtype}, the model takes {wanted}; convert it with .astype({wanted})"
                            if array.dtype.isnative else
                            f"{self.about(number)} is {array.dtype.str}, in foreign byte order; convert it with .astype({wanted})")

    def prepare(self, number, given):
        """An input of other strides: one copy in C order."""
        array = self.as_array(number, given)
        self.check_dtype(number, array)
        if array.flags.c_contiguous and array.flags.aligned:
            return array # given as something that DLPack and the buffer protocol do not read
        return array.copy("C")

    def check_mutable(self, number, given):
        """JAX's arrays never change, which their DLPack does not say."""
        if type(given).__module__.split(".")[0] in ("jax", "jaxlib"):
            raise ValueError(f"{self.about(number)} is an array of JAX, which cannot be written; give a NumPy array")

    def refuse_output(self, number, given):
        """Why an array cannot be written in place."""
        if given is None:
            raise TypeError(f"{self.about(number)} is None; it holds values before the call, so it has to be given")
        array = self.as_array(number, given)
        self.check_dtype(number, array)
        if not array.flags.writeable:
            raise ValueError(f"{self.about(number)} is read-only")
        raise ValueError(f"{self.about(number)} is not in C order: results are written in place")

    def refuse_on_device(self, number, given):
        """Why an array in the memory that forward() computes in cannot be used there; nothing of other arrays."""
        if device_of(given) == HOST or device_of(given) != self.device_type:
            return
        wanted = self.dtypes[number]
        found = str(getattr(given, "dtype", wanted)).rpartition(".")[2]
        if found != str(wanted):
            raise TypeError(f"{self.about(number)} is {found}, the model takes {wanted}; convert it first")
        if (place := given.__dlpack_device__()[1]) != self.device_number:
            raise ValueError(f"{self.about(number)} lies on device {place}, the model computes on device {self.device_number}")
        raise ValueError(f"{self.about(number)} is not in C order, or not aligned to 16 bytes: arrays of a device are used in place")

    def empty_like(self, number, example, shape):
        """An array for a result, of the package of `example`, an argument in the memory of a device."""
        package, dtype = sys.modules.get(type(example).__module__.split(".")[0]), self.dtypes[number]
        if hasattr(example, "new_empty"): # PyTorch
            return example.new_empty(shape, dtype=getattr(package, str(dtype)))
        if getattr(package, "__name__", "") == "cupy":
            return package.empty(shape, dtype)
        argument = self.interface.arguments[number]
        raise TypeError(f"{self.about(number)}: {type(example).__module__} cannot make an array for it; give one as {argument.parameter}=")

    def refuse_shape(self, number, shape, sizes):
        argument = self.interface.arguments[number]
        wanted = ", ".join(map(str, argument.shape))
        known = [f"{name} = {size}" for name, size in zip(self.interface.sizes, sizes) if size >= 0 and name in argument.shape]
        raise ValueError(f"{self.about(number)} is {shape}, the model {'gives' if argument.is_output else 'takes'} [{wanted}]"
                         + (f" with {', '.join(known)}" if known and len(shape) == len(argument.shape) else ""))

    def refuse_size(self, number, sizes):
        argument = self.interface.arguments[number]
        unknown = [name for name in argument.shape if isinstance(name, str) and sizes[self.interface.sizes.index(name)] < 0]
        raise ValueError(f"{self.about(number)}: its size {unknown[0]} does not follow from the inputs; give an array as "
                         f"{argument.parameter}=")

    def refuse_number(self, number, given):
        argument = self.interface.arguments[number]
        raise TypeError(f"{self.about(number)} is a {type(given).__name__}, the model takes a number of type {argument.dtype}")

    def refuse_shared(self, number, other):
        raise ValueError(f"{self.about(number)} shares memory with {self.about(other).split(': ', 1)[1]}")
