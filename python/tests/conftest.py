"""Settings of all tests."""

import signal

# A shell starts jobs in its background with Ctrl-C ignored, and their children would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
