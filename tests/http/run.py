#!/usr/bin/python3
"""Black-box tests of planetd over HTTP. usage: run.py [--binary PATH] [WORD]...

Starts the binary on free ports and runs each function test_* of the files beside this one, or those whose names hold one
of the WORDs. One line per test, at the end the failed ones once more and "N passed, N failed", with the skipped ones when
there are some; the exit status is 1 when any failed. A test that can't run here raises harness.Skip with the reason.
"""

import argparse
import importlib
import os
import re
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = [importlib.import_module(name[:-3]) for name in sorted(os.listdir(HERE)) if re.fullmatch(r"test_\w+\.py", name)]


def tests(words):
    for module in MODULES:
        for name, function in list(vars(module).items()):
            if name.startswith("test_") and callable(function):
                title = name[len("test_"):].replace("_", " ")
                if not words or any(word in name or word in title for word in words):
                    yield title, function


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=harness.BINARY)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    harness.BINARY = options.binary
    passed = skipped = 0
    failures = []
    for title, function in tests(options.words):
        began = time.monotonic()
        try:
            function()
        except harness.Skip as reason:
            skipped += 1
            print("SKIP %s: %s" % (title, reason), flush=True)
        except Exception:
            failures.append("FAIL %s (%.1f s)\n%s" % (title, time.monotonic() - began, traceback.format_exc()))
            print(failures[-1], flush=True)
        else:
            passed += 1
            print("ok   %s (%.1f s)" % (title, time.monotonic() - began), flush=True)
    try:
        harness.end_shared()
    except AssertionError as error:
        failures.append("FAIL the shared server ends well\n%s" % error)
        print(failures[-1])
    # Once more, where whoever reads only the end of a log finds them.
    if failures:
        print("Failed:\n" + "\n".join(failures))
    print("%d passed, %d failed%s" % (passed, len(failures), ", %d skipped" % skipped if skipped else ""))
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
