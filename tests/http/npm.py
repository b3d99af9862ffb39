"""What tests need from npm, in a folder of the build: never beside the sources."""

import os
import re
import shutil
import subprocess

import harness
from harness import Skip

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_NETWORK = r"ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|E40[37]|E5\d\d|ETARGET|network"


def npm_folder(name, what):
    """The files of tests/NAME with what its package-lock.json names; `what` it is, for the reason of a Skip."""
    if not shutil.which("npm") or not shutil.which("node"):
        raise Skip("no npm or node")
    work = os.path.join(os.path.dirname(os.path.abspath(harness.BINARY)), name + "-check")
    lock = os.path.join(work, "package-lock.json")
    os.makedirs(work, exist_ok=True)
    for file in os.scandir(os.path.join(TESTS, name)):
        if file.is_file():
            shutil.copy(file.path, work)
    done_for = os.path.join(work, "installed-lock.json")
    if os.path.exists(done_for) and open(done_for, "rb").read() == open(lock, "rb").read():
        return work
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1", "--fetch-timeout=20000"]
    try:
        done = subprocess.run(command, cwd=work, capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        raise Skip("npm did not get %s in two minutes" % what) from None
    said = (done.stderr + done.stdout).decode("utf-8", "replace")
    if done.returncode and re.search(NO_NETWORK, said):
        raise Skip("npm cannot get %s: %s" % (what, " ".join(said.split())[:200]))
    assert done.returncode == 0, said
    shutil.copy(lock, done_for)
    return work
