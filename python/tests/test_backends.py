"""Goal: Django, cachelib and Flask-Caching keep in a cache what they keep in their own, but pickle nothing that the program did not
say may be pickled.

Method: each is used as a site uses it: with settings, by requests, from threads and from a second process.
"""

import asyncio
import datetime
import os
import subprocess
import sys
import threading
import time

import pytest

import bytewright
from bytewright import DamageWarning

KEPT = ["text", b"bytes", 5, 2.5, True, None, [1, {"a": (1, 2)}], {"set": {1, 2}}, 10**30]
KEY = b"0123456789abcdef"


def spoil(path):
    """Changes bytes of all frames and records."""
    with open(path, "r+b") as file:
        content = bytearray(file.read())
        for at in range(69632, len(content), 64):
            content[at] ^= 0xFF
        file.seek(0)
        file.write(content)


@pytest.fixture(scope="module")
def django_caches():
    """The handler of caches of a site whose settings are configured."""
    pytest.importorskip("django")
    from django.conf import settings

    if not settings.configured:
        settings.configure(SECRET_KEY="a secret of the site", USE_TZ=True)
    from django.core.cache import CacheHandler

    return CacheHandler


@pytest.fixture
def site(django_caches, tmp_path):
    """Makes a cache as a site does that has these parameters in its settings."""

    def made(**parameters):
        parameters = {"BACKEND": "bytewright.django.BytewrightCache", "LOCATION": str(tmp_path / "x.bwc"), **parameters}
        return django_caches({"default": parameters})["default"]

    return made


def test_django_keeps_values_by_version_and_prefix(site):
    cache, other = site(), site(KEY_PREFIX="other", VERSION=2)
    for number, value in enumerate(KEPT):
        cache.set(f"key {number}".replace(" ", "-"), value)
        assert cache.get(f"key-{number}") == value and f"key-{number}" in cache and not other.has_key(f"key-{number}")
    assert cache.get("none") is None and cache.get("none", 7) == 7 and cache.get("key-5", 7) is None
    assert cache.add("new", 1) and not cache.add("new", 2) and cache.get("new") == 1
    assert cache.delete("new") and not cache.delete("new")
    assert cache.set_many({"a": 1, "b": 2}) == [] and cache.get_many(["a", "b", "c"]) == {"a": 1, "b": 2}
    cache.delete_many(["a", "c"])
    assert cache.get("a") is None and cache.get_or_set("a", lambda: 3) == 3 and cache.get("a") == 3
    cache.set("a", 4, version=2)
    assert cache.get("a", version=2) == 4 and cache.incr_version("b") == 2 and cache.get("b") is None and cache.get("b", version=2) == 2
    other.set("a", "other")
    assert cache.get("a") == 3
    cache.close()
    assert cache.get("a") == 3
    custom = site(KEY_FUNCTION=lambda key, prefix, version: f"{version}/{key}")
    custom.set("a", 1)
    assert "1/a" in custom.cache
    with pytest.warns(RuntimeWarning, match="memcached"):
        cache.set("with space", 1)
    cache.clear()
    assert other.get("a") is None


def test_django_lets_values_expire_as_its_timeouts_say(site):
    cache, never = site(), site(TIMEOUT=None)
    assert cache.default_timeout == 300 and site(TIMEOUT="60").default_timeout == 60
    cache.default_timeout = 0.05
    cache.set("soon", 1)
    cache.set("later", 1, 60)
    cache.set("never", 1, None)
    never.set("also-never", 1)
    cache.set("at-once", 1, 0)
    cache.set("past", 1, -1)
    assert cache.get("at-once") is None and cache.get("past") is None
    assert cache.touch("later", 0.05) and not cache.touch("none") and cache.add("added", 1)
    assert never.cache.get(never.make_key("also-never"), expire_time=True)[1] is None
    time.sleep(0.06)
    assert [cache.get(key) for key in ("soon", "later", "never", "added")] == [None, None, 1, None]
    assert cache.touch("never") and cache.get("never") == 1
    time.sleep(0.06)
    assert cache.get("never") is None


def test_django_counts_in_one_step(site):
    cache = site()
    cache.set("n", 41, 60)
    assert cache.incr("n") == 42 and cache.decr("n", 2) == 40 and cache.get("n") == 40
    _, expire_time = cache.cache.get(cache.make_key("n"), expire_time=True)
    assert 0 < expire_time - time.time() <= 60
    for call in (cache.incr, cache.decr):
        with pytest.raises(ValueError, match="Key 'none' not found"):
            call("none")
    cache.set("text", "a")
    with pytest.raises(TypeError):
        cache.incr("text")
    cache.set("long", 2**63 - 1, 60)
    assert cache.incr("long") == 2**63 and cache.incr("long") == 2**63 + 1 and cache.get("long") == 2**63 + 1
    cache.set("float", 0.5)
    assert cache.incr("float", 0.25) == 0.75

    def counts():
        for _ in range(100):
            site().incr("n")

    threads = [threading.Thread(target=counts) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get("n") == 440

    from asgiref.sync import ThreadSensitiveContext

    async def main():
        # The thread that Django calls it in ends with the context.
        async with ThreadSensitiveContext():
            await cache.aset("a", 1)
            return await cache.aincr("a"), await cache.aget("a"), await cache.aget_many(["a"])

    assert asyncio.run(main()) == (2, 2, {"a": 2})


def test_django_keeps_text_that_needs_no_escaping(site):
    from django.utils.safestring import SafeString, mark_safe

    cache = site()
    cache.set("safe", mark_safe("<b>"))
    cache.set("text", "<b>")
    assert type(cache.get("safe")) is SafeString and type(cache.get("text")) is str and cache.get("safe") == "<b>"
    assert cache.add("added", mark_safe("<i>")) and type(cache.get("added")) is SafeString
    assert cache.get("none", mark_safe("x")) == "x" and cache.get("none", "<b>") == "<b>"


def test_django_pickles_only_where_the_settings_say_so(site):
    today = datetime.date(2026, 1, 2)
    cache = site()
    with pytest.raises(TypeError, match="pickle_key"):
        cache.set("day", today)
    pickling = site(OPTIONS={"pickle_key": "SECRET_KEY"})
    pickling.set("day", today)
    assert pickling.get("day") == today and site(OPTIONS={"pickle_key": "SECRET_KEY"}).get("day") == today
    # With another secret, or without one, it is as if it were not there.
    for other in (cache, site(OPTIONS={"pickle_key": KEY})):
        assert other.get("day") is None and other.get("day", 7) == 7 and other.get_or_set("day", 8) == 8
        pickling.set("day", today)
    with pytest.raises(bytewright.CorruptError):
        site(OPTIONS={"pickle_key": KEY, "on_damage": "raise"}).get("day")


def test_django_limits_entries_and_bytes(site, tmp_path):
    from django.core.exceptions import ImproperlyConfigured

    cache = site(OPTIONS={"MAX_ENTRIES": 10, "CULL_FREQUENCY": 2, "size_limit": 2_000_000})
    for number in range(50):
        cache.set(str(number), number)
    assert len(cache.cache) == 10 and cache.get("49") == 49 and cache.cache.size_limit == 2_000_000
    cache.set("long", "old")
    cache.set("long", "x" * 1_000_000)
    assert cache.get("long") is None and cache.get("49") == 49
    with pytest.raises(TypeError, match="size_limits"):
        site(OPTIONS={"size_limits": 5})
    with pytest.raises(ImproperlyConfigured, match="LOCATION"):
        site(LOCATION="")


def test_django_has_one_file_open_for_all_threads_and_its_forked_children(site, tmp_path):
    cache = site()
    caches = []
    threads = [threading.Thread(target=lambda: caches.append(site())) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {id(one.cache) for one in caches} == {id(cache.cache)}
    cache.set("a", 1)
    child = os.fork()
    if child == 0:
        try:
            site().set("a", site().get("a") + 1)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert cache.get("a") == 2
    code = "import sys, bytewright\nwith bytewright.Cache(sys.argv[1]) as cache: print(cache[':1:a'])"
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "x.bwc"], capture_output=True, check=True).stdout == b"2\n"


def test_django_goes_on_with_an_empty_cache_when_its_file_is_damaged(site, tmp_path):
    cache = site()
    cache.set("a", 1)
    spoil(tmp_path / "x.bwc")
    with pytest.warns(DamageWarning):
        assert cache.get("a") is None
    cache.set("a", 2)
    assert site().get("a") == 2


@pytest.fixture
def plain(tmp_path):
    """Makes a cache of cachelib."""
    pytest.importorskip("cachelib")
    from bytewright.cachelib import BytewrightCache

    return lambda *args, **options: BytewrightCache(*args or [tmp_path / "x.bwc"], **options)


def test_cachelib_keeps_values(plain):
    from cachelib import BaseCache

    cache = plain()
    assert isinstance(cache, BaseCache) and cache.cache is plain().cache
    for number, value in enumerate(KEPT):
        assert cache.set(str(number), value) is True and cache.get(str(number)) == value and cache.has(str(number))
    assert cache.get("none") is None and not cache.has("none")
    assert cache.add("new", 1) and not cache.add("new", 2) and cache.delete("new") and not cache.delete("new")
    assert cache.set_many({"a": 1, "b": 2}) == ["a", "b"] and cache.get_many("a", "c", "b") == [1, None, 2]
    assert cache.get_dict("a", "b") == {"a": 1, "b": 2} and "a" in cache.delete_many("a", "c")
    with pytest.raises(TypeError, match="pickle_key"):
        cache.set("day", datetime.date(2026, 1, 2))
    assert plain(pickle_key=KEY).set("day", datetime.date(2026, 1, 2)) and plain(pickle_key=KEY).get("day") and cache.get("day") is None
    assert cache.clear() is True and cache.get("b") is None
    small = plain(size_limit=2_000_000)
    assert small.set("long", "old") and small.set("long", b"x" * 1_000_000) is False and cache.get("long") is None
    memory, other = plain(None), plain(None)
    assert memory.set("a", 1) and memory.get("a") == 1 and other.get("a") is None


def test_cachelib_takes_a_timeout_of_0_for_none(plain):
    cache = plain(default_timeout=1)
    expire_time = {}
    for key, timeout in {"default": None, "never": 0, "later": 60}.items():
        cache.set(key, 1, timeout)
        expire_time[key] = cache.cache.get(key, expire_time=True)[1]
    assert expire_time["never"] is None and 0 < expire_time["default"] - time.time() <= 1 < expire_time["later"] - time.time() <= 60
    cache.add("added", 1, 0)
    cache.inc("counted")
    assert cache.cache.get("added", expire_time=True)[1] is None and cache.cache.get("counted", expire_time=True)[1] is not None


def test_cachelib_counts_in_one_step(plain):
    cache = plain()
    assert cache.inc("n", 5) == 5 and cache.dec("n", 2) == 3 and cache.dec("m") == -1 and cache.get("n") == 3
    cache.set("n", 10, 60)
    assert cache.inc("n") == 11 and cache.cache.get("n", expire_time=True)[1] - time.time() <= 60
    cache.set("float", 0.5)
    assert cache.inc("float", 0.25) == 0.75

    def counts():
        for _ in range(100):
            plain().inc("n")

    threads = [threading.Thread(target=counts) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get("n") == 411


def test_a_writer_that_takes_long_costs_cachelib_a_value_and_no_error(plain, tmp_path):
    cache = plain(timeout=0.01)
    with bytewright.Cache(tmp_path / "x.bwc") as other, other.transact():
        assert cache.set("a", 1) is False and cache.get("a") is None
    assert cache.set("a", 1) is True


FLASK = {
    "in a folder": {"CACHE_TYPE": "bytewright.flask_caching.BytewrightCache", "CACHE_DIR": "folder"},
    "in a file": {"CACHE_TYPE": "bytewright.flask_caching.BytewrightCache", "CACHE_ARGS": ["folder/cache.bwc"], "CACHE_OPTIONS": {"count_limit": 9}},
}


@pytest.mark.parametrize("config", FLASK.values(), ids=FLASK)
def test_flask_caching_keeps_pages_and_results(tmp_path, monkeypatch, config):
    flask, flask_caching = pytest.importorskip("flask"), pytest.importorskip("flask_caching")
    monkeypatch.chdir(tmp_path)
    app = flask.Flask("site")
    cache = flask_caching.Cache(app, config={"CACHE_DEFAULT_TIMEOUT": 60, **config})
    calls = []

    @app.route("/")
    @cache.cached()
    def page():
        calls.append("page")
        return f"page {len(calls)}"

    @cache.memoize(50)
    def area(width, height=2):
        calls.append((width, height))
        return {"area": width * height}

    client = app.test_client()
    assert [client.get("/").data for _ in range(3)] == [b"page 1"] * 3
    with app.app_context():
        assert area(2, height=3) == area(2, height=3) == {"area": 6} and calls == ["page", (2, 3)]
        cache.delete_memoized(area)
        assert area(2, height=3) == {"area": 6} and len(calls) == 3
        cache.delete("view//")
        assert cache.set("a", 1) and cache.get("a") == 1 and cache.has("a") and cache.delete_many("a", "none") and cache.cache.inc("n") == 1
        assert cache.cache.cache.get("n", expire_time=True)[1] - time.time() <= 60
    assert client.get("/").data == b"page 4" and os.listdir("folder") == ["cache.bwc"]
    with bytewright.Cache("folder/cache.bwc") as other:
        assert other["n"] == 1
