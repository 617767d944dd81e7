"""python -m ml2kokkos: models of PyTorch to printed code."""

import argparse
import sys

from .errors import Error, TranslationError

EPILOG = """FILE.py is run, with all that it imports: only for files of your own. Options after -- go to ml2kokkos."""


def parse(arguments):
    more = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, more = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(prog="python -m ml2kokkos", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    translate = commands.add_parser("translate", help="print a PyTorch model as Kokkos C++", epilog=EPILOG)
    add = translate.add_argument
    add("model", metavar="FILE.py:NAME", help="a torch.nn.Module, its class, or a function that makes one")
    add("--example", action="append", required=True, metavar="EXTENTS[:TYPE]",
        help='an input, such as "1,3,224,224" or "1,16:int64"; once per input')
    add("-o", "--output", required=True, metavar="FILE.cpp")
    add("--weights", metavar="FILE.pt", help="a state_dict to load")
    add("--dynamic", action="store_true", help="the first axis of every input and output is a batch of any size")
    add("--inputs", metavar="NAME,...", help="what to call the inputs")
    add("--outputs", metavar="NAME,...", help="what to call the outputs")
    add("--opset", type=int)
    add("--onnx", metavar="FILE.onnx", help="where to keep the exported model")
    parsed = parser.parse_args(arguments)
    parsed.options = more
    return parsed


def names_of(text):
    return [name.strip() for name in text.split(",")] if text else None


def main(arguments=None):
    parsed = parse(list(sys.argv[1:] if arguments is None else arguments))
    try:
        from .torch_export import translate

        translate(parsed.model, parsed.example, parsed.output, weights=parsed.weights, dynamic=parsed.dynamic, opset=parsed.opset,
                  input_names=names_of(parsed.inputs), output_names=names_of(parsed.outputs), keep=parsed.onnx, options=parsed.options)
    except TranslationError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except (Error, ValueError, OSError, ImportError) as error:
        print(f"ml2kokkos: error: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
