"""Convolutional networks whose images have a height and a width that are known at run time only."""

import numpy as np
from dynamic_models import FLOAT, INT64, model, residual_block

SIZES = {"batch": (1, 2, 3), "height": (16, 9, 37), "width": (24, 31, 8)}


def block(net, name, x, inputs, outputs, stride=1, group=1):
    """Conv, BatchNorm, Relu6."""
    y = net.norm(f"{name}.bn", net.conv(f"{name}.conv", x, inputs, outputs, stride=stride, group=group, bias=False), outputs)
    return net.op("Clip", y, net.constant(f"{name}.low", np.float32(0)), net.constant(f"{name}.high", np.float32(6)))


def sizes_of(net, x, of):
    """F.interpolate(x, size=of.shape[-2:]): batch and channels of one tensor, height and width of another."""
    own = net.op("Slice", net.op("Shape", x), net.const([0]), net.const([2]), net.const([0]))
    target = net.op("Slice", net.op("Shape", of), net.const([2]), net.const([4]), net.const([0]))
    return net.op("Concat", own, target, axis=0)


@model(17, batch=(1, 2, 3), height=(16, 8, 36), width=(24, 40, 4), 
       refused=[{"batch": 1, "height": 18, "width": 24}, {"batch": 1, "height": 16, "width": 2}])
def torch_unet(net):
    """Skips are concatenated with what a transposed convolution makes of the level below. Of the sizes that are refused
    the second are those of no Workspace."""
    image = net.input("image", "batch", 3, "height", "width")
    skips, x, inputs = [], image, 3
    for level, channels in enumerate((8, 16)):
        x = net.op("Relu", net.conv(f"down{level}.conv1", x, inputs, channels))
        x = net.op("Relu", net.conv(f"down{level}.conv2", x, channels, channels))
        skips.append((x, channels))
        x, inputs = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), channels
    x = net.op("Relu", net.conv("middle", x, 16, 32))
    inputs = 32
    for level, (skip, channels) in reversed(list(enumerate(skips))):
        weight, bias = net.weight(f"up{level}.weight", inputs, channels, 2, 2), net.weight(f"up{level}.bias", channels)
        up = net.op("ConvTranspose", x, weight, bias, kernel_shape=[2, 2], strides=[2, 2])
        x = net.op("Relu", net.conv(f"up{level}.conv", net.op("Concat", skip, up, axis=1), 2 * channels, channels))
        inputs = channels
    net.conv("mask", x, 8, 2, kernel=1)
    net.op("Softmax", "mask", name="classes", axis=1)
    return {"classes": (FLOAT, 4)}


@model(18, **SIZES)
def torch_segmentation(net):
    """Depthwise and dilated convolutions, a pooled branch, an upsampled map of the size of the input."""
    image = net.input("image", "batch", 3, "height", "width")
    x = block(net, "stem", image, 3, 16, stride=2)
    x = block(net, "point", block(net, "deep", x, 16, 16, stride=2, group=16), 16, 24)
    near, far = net.conv("near", x, 24, 8, kernel=1), net.conv("far", x, 24, 8, dilation=2)
    pooled = net.op("Relu", net.conv("pooled", net.op("GlobalAveragePool", x), 24, 8, kernel=1))
    whole = net.op("Resize", pooled, "", "", sizes_of(net, pooled, x), mode="linear", coordinate_transformation_mode="half_pixel")
    x = net.op("Relu", net.conv("join", net.op("Concat", near, far, whole, axis=1), 24, 16, kernel=1))
    x = net.conv("classes", x, 16, 5, kernel=1)
    net.op("Resize", x, "", "", sizes_of(net, x, image), name="scores", mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
    net.op("ArgMax", "scores", name="labels", axis=1, keepdims=0)
    return {"scores": (FLOAT, 4), "labels": (INT64, 3)}


@model(17, **SIZES)
def torch_halves(net):
    """Two units of ShuffleNetV2: one that halves the image, one whose first half passes as it is."""
    def shuffle(x, channels):
        batch, rows, columns = (net.size(x, axis) for axis in (0, 2, 3))
        x = net.op("Transpose", net.view(x, batch, 2, channels // 2, rows, columns), perm=[0, 2, 1, 3, 4])
        return net.view(x, batch, channels, rows, columns)
    x = block(net, "stem", net.input("image", "batch", 3, "height", "width"), 3, 10)
    y = net.conv("down.deep1", x, 10, 10, stride=2, group=10)
    first = net.op("Relu", net.conv("down.point1", y, 10, 13, kernel=1))
    y = net.conv("down.deep2", net.op("Relu", net.conv("down.wide", x, 10, 13, kernel=1)), 13, 13, stride=2, group=13)
    second = net.op("Relu", net.conv("down.point2", y, 13, 13, kernel=1))
    x = shuffle(net.op("Concat", first, second, axis=1), 26)
    first, second = (net.op("Slice", x, net.const([at]), net.const([at + 13]), net.const([1])) for at in (0, 13))
    y = net.conv("unit.deep", net.op("Relu", net.conv("unit.wide", second, 13, 13, kernel=1)), 13, 13, group=13)
    second = net.op("Relu", net.conv("unit.point", y, 13, 13, kernel=1))
    x = shuffle(net.op("Concat", first, second, axis=1), 26)
    net.op("Relu", net.conv("last", x, 26, 8), name="features")
    return {"features": (FLOAT, 4)}


@model(17, **SIZES)
def torch_classifier(net):
    """A backbone of a classifier, at the size that an image has; squeeze and excitation."""
    image = net.input("image", "batch", 3, "height", "width")
    x = net.op("Relu", net.conv("conv1", image, 3, 16, kernel=7, stride=2))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = residual_block(net, "layer1", x, 16)
    gate = net.op("ReduceMean", x, axes=[2, 3], keepdims=1)
    gate = net.op("Sigmoid", net.conv("se.fc2", net.op("Relu", net.conv("se.fc1", gate, 16, 4, kernel=1)), 4, 16, kernel=1))
    x = net.op("Relu", net.conv("conv2", net.op("Mul", x, gate), 16, 24, group=2))
    highest = net.op("Flatten", net.op("GlobalMaxPool", x), axis=1)
    net.linear("logits", net.op("Add", net.op("Flatten", net.op("GlobalAveragePool", x), axis=1), highest), 24, 10)
    return {"logits": (FLOAT, 2)}


@model(17, **SIZES)
def torch_pools(net):
    """Pools that round up, and means that leave pads out."""
    image = net.input("image", "batch", 5, "height", "width")
    net.op("MaxPool", image, name="rounded", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0], ceil_mode=1)
    net.op("AveragePool", image, name="inside", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    net.op("AveragePool", image, name="all", kernel_shape=[3, 3], strides=[2, 3], pads=[1, 0, 1, 1], count_include_pad=1)
    net.op("AveragePool", "rounded", name="small", kernel_shape=[2, 2], strides=[3, 3], ceil_mode=1)
    net.op("AveragePool", image, name="same", kernel_shape=[2, 3], auto_pad="SAME_UPPER")
    return {name: (FLOAT, 4) for name in ("rounded", "inside", "all", "small", "same")}


@model(17, **SIZES)
def torch_shuffled(net):
    """Convolutions in groups with a shuffle of channels between them, and a gate per channel."""
    def norm(name, x, inputs, outputs, **more):
        return net.norm(f"{name}.bn", net.conv(f"{name}.conv", x, inputs, outputs, bias=False, **more), outputs)
    x = block(net, "stem", net.input("image", "batch", 3, "height", "width"), 3, 24, stride=2)
    y = net.op("Relu", norm("reduce", x, 24, 12, kernel=1, group=3))
    batch, rows, columns = (net.size(y, axis) for axis in (0, 2, 3))
    y = net.op("Transpose", net.view(y, batch, 3, 4, rows, columns), perm=[0, 2, 1, 3, 4])
    y = norm("deep", net.view(y, batch, 12, rows, columns), 12, 12, group=12)
    y = norm("expand", norm("wide", y, 12, 12, group=4), 12, 24, kernel=1, group=3)
    gate = net.op("Relu", net.conv("squeeze", net.op("GlobalAveragePool", y), 24, 6, kernel=1))
    gate = net.op("HardSigmoid", net.conv("excite", gate, 6, 24, kernel=1))
    net.op("Relu", net.op("Add", x, net.op("Mul", y, gate)), name="features")
    return {"features": (FLOAT, 4)}


@model(18, batch=(1, 2, 3), height=(5, 8, 13), width=(12, 7, 4))
def torch_resized(net):
    """Scales and sizes, all filters."""
    image = net.conv("conv", net.input("image", "batch", 3, "height", "width"), 3, 4)

    def resize(name, mode, coordinates, *scale, **more):
        net.op("Resize", image, "", net.const([1, 1, *scale], np.float32), name=name, mode=mode,
               coordinate_transformation_mode=coordinates, **more)
        return name
    names = [resize("nearest", "nearest", "asymmetric", 2, 3, nearest_mode="floor"),
             resize("half", "nearest", "half_pixel", 2, 2, nearest_mode="round_prefer_floor"),
             resize("fraction", "nearest", "asymmetric", 1.5, 0.5, nearest_mode="floor"),
             resize("linear", "linear", "half_pixel", 1.5, 2),
             resize("corners", "linear", "align_corners", 2, 2),
             resize("smaller", "linear", "half_pixel", 0.5, 0.75),
             resize("cubic", "cubic", "half_pixel", 2, 1.25, cubic_coeff_a=-0.75),
             resize("cubic_inside", "cubic", "half_pixel", 2, 2, cubic_coeff_a=-0.5, exclude_outside=1)]
    net.op("Resize", image, "", "", sizes_of(net, image, "linear"), name="sized", mode="linear",
           coordinate_transformation_mode="align_corners")
    net.op("Resize", image, "", "", net.const([7, 9]), name="fixed", axes=[2, 3], mode="linear")
    return {name: (FLOAT, 4) for name in (*names, "sized", "fixed")}


@model(17, **SIZES)
def torch_super_resolution(net):
    """Reflection, instance norms, pixels out of channels, a long skip."""
    image = net.input("image", "batch", 3, "height", "width")
    x = net.op("Pad", image, net.const([0, 0, 2, 2, 0, 0, 2, 2]), mode="reflect")
    x = net.conv("conv1", x, 3, 16, kernel=5, pads=[0] * 4)
    x = net.op("InstanceNormalization", x, net.weight("in.weight", 16, scale=1), net.weight("in.bias", 16, scale=1))
    x = net.op("PRelu", x, net.weight("slope", 16, 1, 1, scale=0.2))
    x = net.op("Add", x, net.conv("conv2", x, 16, 16))
    up = net.op("DepthToSpace", net.conv("conv3", x, 16, 12), blocksize=2, mode="CRD")
    base = net.op("Resize", image, "", net.const([1, 1, 2, 2], np.float32), mode="nearest", coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor")
    net.op("Tanh", net.op("Add", up, base), name="large")
    return {"large": (FLOAT, 4)}


@model(17, batch=(1, 2, 3), height=(6, 3, 9), width=(5, 8, 3))
def torch_transposed(net):
    """Transposed convolutions that overlap, and one after a shuffle of channels."""
    image = net.input("image", "batch", 8, "height", "width")
    x = net.op("ConvTranspose", image, net.weight("t1", 8, 6, 4, 4), kernel_shape=[4, 4], strides=[2, 2], pads=[1, 1, 1, 1])
    batch, rows, columns = (net.size(x, axis) for axis in (0, 2, 3))
    x = net.op("Transpose", net.view(x, batch, 2, 3, rows, columns), perm=[0, 2, 1, 3, 4])
    x = net.op("Relu", net.view(x, batch, 6, rows, columns))
    net.op("ConvTranspose", x, net.weight("t2", 6, 2, 3, 3), name="y", kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 1, 1],
           output_padding=[1, 0], group=2)
    return {"y": (FLOAT, 4)}


@model(15, unk__1=(1, 3, 2), unk__2=(8, 11, 6), unk__3=(10, 5, 7))
def keras_fully_convolutional(net):
    """Images lie NHWC, pads are SAME."""
    x = net.op("Transpose", net.input("input_1", "unk__1", "unk__2", "unk__3", 3), perm=[0, 3, 1, 2])
    for name, inputs, outputs in (("conv2d", 3, 8), ("conv2d_1", 8, 16)):
        weight, bias = net.weight(f"{name}.kernel", outputs, inputs, 3, 3), net.weight(f"{name}.bias", outputs, scale=0.1)
        x = net.op("Relu", net.op("Conv", x, weight, bias, name=name, kernel_shape=[3, 3], auto_pad="SAME_UPPER"))
    x = net.op("Transpose", x, perm=[0, 2, 3, 1])
    x = net.op("Add", net.op("MatMul", x, net.weight("dense", 16, 4, scale=0.3)), net.weight("dense.bias", 4, scale=1))
    net.op("Sigmoid", x, name="mask")
    return {"mask": (FLOAT, 4)}


@model(17, batch=(1, 2, 3), frames=(40, 17, 64))
def torch_audio(net):
    """One dimension: strided, dilated and transposed."""
    def conv(name, x, inputs, outputs, kernel, **more):
        return net.op("Conv", x, net.weight(f"{name}.weight", outputs, inputs, kernel), net.weight(f"{name}.bias", outputs, scale=0.1),
                      name=name, kernel_shape=[kernel], **more)
    x = net.op("Relu", conv("encoder", net.input("wave", "batch", 1, "frames"), 1, 16, 8, strides=[4], pads=[2, 2]))
    y = net.op("Relu", conv("dilated", x, 16, 16, 3, pads=[2, 2], dilations=[2]))
    y = net.op("AveragePool", net.op("Add", x, y), kernel_shape=[3], strides=[1], pads=[1, 1])
    net.op("ConvTranspose", y, net.weight("decoder", 16, 1, 8), name="clean", kernel_shape=[8], strides=[4], pads=[2, 2])
    return {"clean": (FLOAT, 3)}


@model(17, batch=(1, 2, 3), frames=(12, 5, 31))
def torch_vocoder(net):
    """Residual blocks of one dimension between transposed convolutions, and one of a concatenation."""
    def conv(name, x, inputs, outputs, kernel, **more):
        weight, bias = net.weight(f"{name}.weight", outputs, inputs, kernel, scale=0.15), net.weight(f"{name}.bias", outputs, scale=0.1)
        return net.op("Conv", x, weight, bias, name=name, kernel_shape=[kernel], **more)
    def up(name, x, inputs, outputs, **more):
        return net.op("ConvTranspose", x, net.weight(f"{name}.weight", inputs, outputs, 4, scale=0.2), net.weight(f"{name}.bias", outputs),
                      name=name, kernel_shape=[4], strides=[2], pads=[1, 1], **more)
    x = conv("pre", net.input("mel", "batch", 10, "frames"), 10, 24, 7, pads=[3, 3])
    x = up("up", net.op("LeakyRelu", x, alpha=0.1), 24, 16)
    for i, dilation in enumerate((1, 3)):
        y = conv(f"block{i}.0", net.op("LeakyRelu", x, alpha=0.1), 16, 16, 3, pads=[dilation] * 2, dilations=[dilation])
        x = net.op("Add", conv(f"block{i}.1", net.op("LeakyRelu", y, alpha=0.1), 16, 16, 3, pads=[1, 1]), x)
    down = net.op("Relu", conv("down", x, 16, 16, 4, strides=[2], pads=[1, 1]))
    both = net.op("Concat", x, up("again", down, 16, 8), axis=1)
    net.op("Tanh", conv("post", both, 24, 1, 3, pads=[1, 1]), name="audio")
    return {"audio": (FLOAT, 3)}


@model(17, batch=(1, 2, 3), depth=(4, 5, 7), height=(6, 4, 9), width=(5, 8, 4))
def torch_volume(net):
    """Three dimensions."""
    x = net.input("volume", "batch", 2, "depth", "height", "width")
    x = net.op("Relu", net.op("Conv", x, net.weight("conv.weight", 4, 2, 3, 3, 3), net.weight("conv.bias", 4), kernel_shape=[3] * 3, pads=[1] * 6))
    x = net.op("MaxPool", x, kernel_shape=[2] * 3, strides=[2] * 3)
    net.op("Resize", x, "", net.const([1, 1, 2, 2, 2], np.float32), name="y", mode="nearest", coordinate_transformation_mode="asymmetric",
           nearest_mode="floor")
    return {"y": (FLOAT, 5)}


@model(17, height=(9, 16, 1), width=(8, 13, 22))
def keras_same(net):
    """Strides with padding "same" of images of any size: where the odd pixel goes depends on the size."""
    image = net.input("image", 1, 3, "height", "width")

    def conv(name, x, inputs, outputs, kernel, mode, stride):
        weight = net.weight(f"{name}.weight", outputs, inputs, kernel, kernel)
        return net.op("Conv", x, weight, name=name, auto_pad=mode, strides=[stride, stride])
    x = net.op("Relu", conv("conv1", image, 3, 8, 3, "SAME_UPPER", 2))
    y = net.op("Relu", conv("conv2", image, 3, 8, 4, "SAME_LOWER", 2))
    x = net.op("Concat", x, y, axis=1)
    pooled = net.op("MaxPool", x, auto_pad="SAME_UPPER", kernel_shape=[3, 3], strides=[2, 2])
    means = net.op("AveragePool", x, auto_pad="SAME_LOWER", kernel_shape=[3, 3], strides=[2, 2])
    all_means = net.op("AveragePool", x, auto_pad="SAME_UPPER", kernel_shape=[2, 3], strides=[2, 2], count_include_pad=1)
    x = net.op("Add", net.op("Add", pooled, means), all_means)
    conv("thirds", x, 16, 4, 5, "SAME_LOWER", 3)
    conv("points", x, 16, 4, 1, "SAME_UPPER", 2)
    return {"thirds": (FLOAT, 4), "points": (FLOAT, 4)}


@model(18, batch=(1, 2, 1), height=(9, 16, 5), width=(8, 13, 22))
def torch_whole_patches(net):
    """F.pad to a multiple of the patch, by zeros and by mirrored pixels, and the crop afterwards."""
    image = net.input("image", "batch", 3, "height", "width")
    height, width = net.size(image, 2), net.size(image, 3)

    def missing(size, patch):
        return net.op("Mod", net.op("Sub", net.const(patch), net.op("Mod", size, net.const(patch))), net.const(patch))
    x = net.op("Pad", image, net.shape(0, 0, 0, 0, 0, 0, missing(height, 4), missing(width, 4)))
    x = net.conv("patches", x, 3, 8, kernel=4, stride=4, pads=[0] * 4)
    up = net.op("Resize", x, "", net.const([1, 1, 4, 4], np.float32), coordinate_transformation_mode="asymmetric", mode="nearest",
                nearest_mode="floor")
    cropped = net.op("Slice", up, net.const([0, 0]), net.shape(height, width), net.const([2, 3]))
    mirrored = net.op("Pad", cropped, net.shape(0, 0, missing(height, 2), 0, 0, 0, 0, missing(width, 2)), mode="reflect")
    net.op("Identity", mirrored, name="y")
    return {"y": (FLOAT, 4)}
