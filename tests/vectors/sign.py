#!/usr/bin/python3
"""Test vectors of signed URLs. usage: sign.py [--check]

Writes sign.tsv beside this file; with --check only compares. This is a second reader of the rules in api/sign.h, on Python's hmac
alone: planetd has to agree with it, and so has anybody's own signer. Columns, with tabs between them:

    name       what the row shows
    keys       hex keys that the server has, commas between them
    now        the server's time, Unix seconds
    target     path and query as they are sent
    body       what is posted; - is none
    canonical  the text that is signed, before the body; - when the target is broken
    verdict    ok, signature (403, not signed by one of the keys) or expired (403)

To test a signer: take the rows that are ok, drop `signature` from the target, sign with the key that the row's name speaks of
(the first one, if it names none), and compare.
"""

import base64
import hashlib
import hmac
import os
import re
import sys

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sign.tsv")
UNRESERVED = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
ONE = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
TWO = "ffeeddccbbaa99887766554433221100"
LONG = "5a" * 64
NOW = 1893456000
PAIRS_MAX = 128


class Broken(Exception):
    """The target has no canonical form."""


def spell(text, in_query):
    if re.search(r"%(?![0-9A-Fa-f]{2})|%00|[^!-~]", text) or (not in_query and "?" in text):
        raise Broken(text)

    def one(match):
        character = chr(int(match.group(1), 16))
        return character if character in UNRESERVED else match.group(0).upper()

    text = re.sub("%(..)", one, text)
    return text.replace("+", "%20") if in_query else text


def pairs(query):
    return [spell(pair, True) for pair in query.split("&") if pair]


def canonical(target):
    path, _, query = target.partition("?")
    kept = sorted(pair for pair in pairs(query) if pair.split("=")[0] != "signature")
    if len(kept) > PAIRS_MAX:
        raise Broken(target)
    return spell(path, False) + ("?" + "&".join(kept) if kept else "")


def sign(key, target, body=""):
    text = canonical(target) + ("\n" + body if body else "")
    digest = hmac.new(bytes.fromhex(key), text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def verdict(keys, now, target, body):
    try:
        every = [pair.partition("=")[::2] for pair in pairs(target.partition("?")[2])]
        right = [sign(key, target, body) for key in keys.split(",")]
    except Broken:
        return "signature"
    given = [value for name, value in every if name == "signature"]
    ends = [value for name, value in every if name == "expires"]
    if len(given) != 1 or len(ends) > 1 or re.sub(r"^(.{43})(=|%3D)$", r"\1", given[0]) not in right:
        return "signature"
    if ends and (not re.fullmatch("[0-9]+", ends[0]) or int(ends[0]) > 2**53):
        return "signature"
    return "expired" if ends and now > int(ends[0]) else "ok"


ROWS = []


def row(name, send, sign_as=None, expect="ok", key=ONE, keys=ONE, body="", sign_body=None, now=NOW):
    """`send` holds {s} where the signature of `sign_as` (by default of itself) goes."""
    if sign_as is None:
        sign_as = re.sub("[?&][^?&]*{s}.*", "", send)
    try:
        signature = sign(key, sign_as, body if sign_body is None else sign_body)
    except Broken:
        signature = "A" * 43
    target = send.replace("{s}", signature).replace("{S}", signature[:-1]).replace("{/}", signature.replace("-", "+").replace("_", "/"))
    try:
        text = canonical(target)
    except Broken:
        text = "-"
    found = verdict(keys, now, target, body)
    assert found == expect, (name, target, found)
    assert not re.search("[\t\n]", target + body + name)
    ROWS.append((name, keys, str(now), target, body or "-", text, found))


def special_seed(pattern):
    """The first seed whose signature, in the plain alphabet of base64, fits."""
    seed = 0
    while not re.search(pattern, sign(ONE, "/planet?seed=%d" % seed).replace("-", "+").replace("_", "/")):
        seed += 1
    return seed


def good_rows():
    row("a plain target", "/planet?type=gas&seed=3&signature={s}")
    row("a path without a query", "/planet/gas/3.png?signature={s}")
    row("an empty query", "/planet?&signature={s}", "/planet?")
    row("the shortest path", "/?signature={s}", "/")
    row("pairs in another order", "/planet?zoom=2&seed=3&type=gas&signature={s}", "/planet?type=gas&seed=3&zoom=2")
    row("the signature stands first", "/planet?signature={s}&type=gas&seed=3", "/planet?type=gas&seed=3")
    row("the name of the signature is escaped", "/planet?seed=3&%73ignature={s}", "/planet?seed=3")
    row("empty pairs", "/planet?&&type=gas&&seed=3&&signature={s}&", "/planet?type=gas&seed=3")
    row("a slash in a seed", "/planet?seed=a%2Fb&signature={s}")
    row("hex digits in lower case", "/planet?seed=a%2fb%c3%a9&signature={s}", "/planet?seed=a%2Fb%C3%A9")
    row("a tilde is itself", "/planet?seed=%7Ea~&signature={s}", "/planet?seed=~a%7e")
    row("letters that need no escape", "/%70lanet/gas/3.png?%7aoom=%32&signature={s}", "/planet/gas/3.png?zoom=2")
    row("a plus is a blank in a query", "/planet?seed=a+b&signature={s}", "/planet?seed=a%20b")
    row("a plus is a plus in a path", "/planet/gas/a+b.png?signature={s}")
    row("an escaped plus", "/planet?seed=a%2Bb&signature={s}")
    row("escaped delimiters stay escaped", "/planet?seed=%26zoom%3D2%25&signature={s}")
    row("the same pair twice is kept twice", "/planet?seed=1&seed=1&signature={s}")
    row("a name without a value", "/planet?seed&signature={s}")
    row("a question mark in a query", "/planet?seed=a?b&signature={s}")
    row("a body", "/planet?signature={s}", body='{"type": "gas", "seed": 3}')
    row("a body and a query", "/planet?expires=1893456001&signature={s}", body='{"seed": "%2f+"}')
    row("padding", "/planet?seed=3&signature={s}=")
    row("padding that was escaped", "/planet?seed=3&signature={s}%3d")
    row("a digest with + and / in base64", "/planet?seed=%d&signature={s}" % special_seed(r"\+.*/|/.*\+"))
    row("a key of 64 bytes", "/planet?seed=3&signature={s}", key=LONG, keys=LONG)
    row("the second of two keys", "/planet?seed=3&signature={s}", key=TWO, keys=ONE + "," + TWO)
    row("the first of two keys", "/planet?seed=3&signature={s}", keys=ONE + "," + TWO)
    row("as many pairs as there may be", "/planet?" + "a&" * 128 + "signature={s}", "/planet?" + "a&" * 128)


def bad_rows():
    no = "signature"
    plain = "/planet?seed=3"
    row("no signature", "/planet?seed=3", expect=no)
    row("a signature without a value", "/planet?seed=3&signature", expect=no)
    row("an empty signature", "/planet?seed=3&signature=", expect=no)
    row("the signature twice", "/planet?seed=3&signature={s}&signature={s}", plain, no)
    row("the signature twice, once escaped", "/planet?seed=3&signature={s}&signatur%65={s}", plain, no)
    row("a signature that was cut", "/planet?seed=3&signature={S}", plain, no)
    row("a signature that was lengthened", "/planet?seed=3&signature={s}A", plain, no)
    row("padding twice", "/planet?seed=3&signature={s}==", plain, no)
    row("the plain alphabet of base64", "/planet?seed=%d&signature={/}" % special_seed("[+/]"), expect=no)
    row("a name in capitals", "/planet?seed=3&Signature={s}", plain, no)
    row("a key that the server has not", "/planet?seed=3&signature={s}", expect=no, key=TWO)
    row("another value", "/planet?seed=4&signature={s}", plain, no)
    row("a pair was appended", "/planet?seed=3&signature={s}&x=1", plain, no)
    row("a pair was put in front", "/planet?x=1&seed=3&signature={s}", plain, no)
    row("a pair was doubled", "/planet?seed=3&seed=3&signature={s}", plain, no)
    row("a pair was taken away", "/planet?seed=3&signature={s}", "/planet?seed=3&zoom=2", no)
    row("the question mark moved", "/a?bc&signature={s}", "/ab?c", no)
    row("another case of a path", "/Planet?seed=3&signature={s}", plain, no)
    row("another case of a value", "/planet?seed=A&signature={s}", "/planet?seed=a", no)
    row("an escaped slash in a path is no slash", "/planet%2Fgas/3.png?signature={s}", "/planet/gas/3.png", no)
    row("an escaped question mark in a path", "/planet%3Fseed=3?signature={s}", plain, no)
    row("an escaped ampersand is no ampersand", "/planet?seed=3%26zoom=2&signature={s}", "/planet?seed=3&zoom=2", no)
    row("an escaped equals sign", "/planet?seed%3D3&signature={s}", plain, no)
    row("an escaped plus is no blank", "/planet?seed=a%2Bb&signature={s}", "/planet?seed=a+b", no)
    row("a plus in a path is no blank", "/planet/gas/a+b.png?signature={s}", "/planet/gas/a%20b.png", no)
    row("an escape of an escape", "/planet?seed=%2541&signature={s}", "/planet?seed=%41", no)
    row("a percent sign at the end", "/planet?seed=%&signature={s}", expect=no)
    row("a percent sign before one digit", "/planet?seed=%4&signature={s}", expect=no)
    row("a percent sign before no hex", "/planet/%zz.png?signature={s}", expect=no)
    row("a broken escape in the signature", "/planet?seed=3&signature=%{s}", plain, no)
    row("an escaped NUL", "/planet?seed=a%00b&signature={s}", expect=no)
    row("another body", "/planet?signature={s}", "/planet", no, body='{"seed":4}', sign_body='{"seed":3}')
    row("a body that was added", "/planet?signature={s}", "/planet", no, body='{"seed":3}', sign_body="")
    row("a body that was taken away", "/planet?signature={s}", "/planet", no, sign_body='{"seed":3}')
    row("more pairs than there may be", "/planet?" + "a&" * 129 + "signature={s}", expect=no)


def expiry_rows():
    end = "/planet?seed=3&expires=%s"
    row("it ends in the next second", end % (NOW + 1) + "&signature={s}")
    row("it ends now, so it is still good", end % NOW + "&signature={s}")
    row("it ended a second ago", end % (NOW - 1) + "&signature={s}", expect="expired")
    row("it ended in 1970", end % 0 + "&signature={s}", expect="expired")
    row("it ended, and the signature is wrong besides", end % 0 + "&signature={s}", "/planet?seed=4&expires=0", "signature")
    row("the far future", end % 2**53 + "&signature={s}")
    row("beyond 2^53", end % (2**53 + 1) + "&signature={s}", expect="signature")
    row("beyond 2^64", end % (2**64 + NOW + 1) + "&signature={s}", expect="signature")
    row("the end stands first", "/planet?expires=%d&signature={s}&seed=3" % NOW, end % NOW)
    row("the digits are escaped", "/planet?expires=%3" + str(NOW)[0] + str(NOW)[1:] + "&seed=3&signature={s}", end % NOW)
    row("the end was put off", end % (NOW + 9) + "&signature={s}", end % (NOW - 9), "signature")
    row("the end was taken away", "/planet?seed=3&signature={s}", end % (NOW - 9), "signature")
    row("the end was added", end % (NOW + 9) + "&signature={s}", "/planet?seed=3", "signature")
    row("the end twice", end % NOW + "&expires=%d&signature={s}" % NOW, expect="signature")
    for words, value in (("no digits", ""), ("a sign", "-1"), ("a plus", "%2B1"), ("a blank", "+1"), ("a fraction", "1e99"), ("hex", "0x7fffffff"), ("a word", "never")):
        row("an end with " + words, end % value + "&signature={s}", expect="signature")
    row("an end without a value", "/planet?seed=3&expires&signature={s}", expect="signature")


def main():
    good_rows()
    bad_rows()
    expiry_rows()
    text = "# name\tkeys\tnow\ttarget\tbody\tcanonical\tverdict\n" + "".join("\t".join(r) + "\n" for r in ROWS)
    if "--check" in sys.argv[1:]:
        with open(PATH, encoding="ascii") as file:
            if file.read() != text:
                print("sign.tsv is not what sign.py makes: run %s" % sys.argv[0])
                return 1
        print("%d vectors" % len(ROWS))
        return 0
    with open(PATH, "w", encoding="ascii") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
