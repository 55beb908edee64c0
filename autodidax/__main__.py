"""The command line: `python -m autodidax check` checks rules of primitives and of a user's modules."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from autodidax.testing.commandline import command
from autodidax.testing.commandline.modules import load_all as load_all
from autodidax.version import __version__

CLOSED = 141  # what a shell reports of a program whose reader has gone


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m autodidax", description="Tools of the autodidax package.")
    parser.add_argument("--version", action="version", version=f"autodidax {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="check the rules of primitives and of functions with custom derivatives",
        description="Check implementation, abstract evaluation, derivatives, batching and staging of primitives, and "
        "the custom_jvp and custom_vjp functions, and functions with declared samples, of a module.",
    )
    command.add_arguments(check)
    options = parser.parse_args(argv)
    here = os.getcwd()
    if not {here, ""} & set(sys.path):  # so that a user's modules are found however this was started
        sys.path.insert(0, here)
    try:
        code = command.run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except KeyboardInterrupt:
        print("\nstopped before the end", file=sys.stderr)
        return command.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
