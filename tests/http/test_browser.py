"""The page in a real browser: Debian's Chromium, driven by playwright-core from npm."""

import re
import shutil
import subprocess

from harness import Server, Skip, get
from npm import npm_folder


def in_browser(script):
    if not shutil.which("chromium"):
        raise Skip("no chromium")
    work = npm_folder("browser", "playwright-core")
    with Server() as server:
        if get(server, "/viewer/planetd.wasm").status != 200:
            raise Skip("this binary was built without the page's engine: deploy/packages/page.txt")
        done = subprocess.run(["node", script, "http://127.0.0.1:%d" % server.port], cwd=work, capture_output=True, timeout=300, check=False)
    said = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, (said + done.stderr.decode("utf-8", "replace"))[-3000:]
    return said


def test_the_page_draws_the_pixels_that_the_server_draws():
    print(re.search(r"^# \d+ of \d+ pixels differ$", in_browser("pixels.mjs"), re.M).group())


def test_the_page_can_be_played_with():
    assert re.search(r"^\d+ passed, 0 failed$", in_browser("play.mjs"), re.M)
