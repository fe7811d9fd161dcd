"""`python -m bytewright` is the command `bytewright`."""

import signal
import sys

from ._bytewright import run_command


def main() -> None:
    """Runs the command, and exits with its code."""
    # Signals end the command as they end any other: Python's handlers would wait for the core.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(run_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
