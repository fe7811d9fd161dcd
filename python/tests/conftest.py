"""Settings of all tests."""

import signal

import pytest

# Pytest rewrites the asserts of tests by itself, so that they tell values, and those of other files where it is asked to.
pytest.register_assert_rewrite("troubles")

# A shell starts jobs in its background with Ctrl-C ignored, and their children would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
