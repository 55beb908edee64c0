"""The command line: `python -m autodidax check` checks the rules of all primitives."""

from __future__ import annotations

import argparse
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Sequence


def load_all() -> None:
    """Import the modules that register primitives, those included that load on first use."""
    for part in ("primitives", "control_flow", "scipy"):
        name = f"autodidax.{part}"
        if importlib.util.find_spec(name) is not None:
            package = importlib.import_module(name)
            for module in pkgutil.walk_packages(package.__path__, name + "."):
                importlib.import_module(module.name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m autodidax", description="Tools of the autodidax package.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="check the rules of the primitives",
        description="Check implementation, abstract evaluation, derivatives, batching and staging of primitives.",
    )
    from autodidax.testing import command

    command.add_arguments(check)
    options = parser.parse_args(argv)
    try:
        return command.run(options, load_all)
    except BrokenPipeError:  # the reader of the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("\nstopped before the end", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
