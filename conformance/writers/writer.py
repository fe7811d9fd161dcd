"""Processes that say how far they have come, and are killed: for killed.py and killed_caches.py."""

import shlex
import signal
import subprocess


class Writer:
    def __init__(self, number, command, path):
        self.key = f"count {number}"
        self.command = [*command, str(path), self.key]
        self.begin()

    def begin(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE)
        self.said = 0

    def hear(self):
        line = self.process.stdout.readline()
        assert line, f"{self.command} has ended with {self.process.wait()}"
        self.said = int(line)

    def kill(self):
        """Kills it, and reads what it said before."""
        self.process.send_signal(signal.SIGKILL)
        with self.process.stdout as said:
            for line in said:
                self.said = int(line)
        assert self.process.wait() == -signal.SIGKILL, f"{self.command} has ended with {self.process.returncode}"


def commands_of(arguments):
    """The commands by the names of their languages, of arguments such as NAME=COMMAND."""
    return {name: shlex.split(command) for name, _, command in (argument.partition("=") for argument in arguments)}
