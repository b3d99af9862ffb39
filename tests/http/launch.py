#!/usr/bin/python3
"""Starts a program as systemd would: with sockets, as another user, with other variables.

usage: launch.py JSON PROGRAM [ARGUMENT]...
JSON: {"sockets": ["127.0.0.1", "/path", ...], "names": "a:b", "pid": "1", "fds": "2", "uid": 65534}, all optional: TCP on any
port, or a unix socket. They become descriptors 3 and up; LISTEN_PID is the program's own unless "pid" says otherwise.
"""

import json
import os
import socket
import sys

wish = json.loads(sys.argv[1])
sockets = []
for address in wish.get("sockets", []):
    if address.startswith("/"):
        s = socket.socket(socket.AF_UNIX)
        s.bind(address)
    else:
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        s.bind((address, 0))
    s.listen(64)
    sockets.append(s)
copies = [os.dup2(s.fileno(), 100 + i) for i, s in enumerate(sockets)]  # so that none is written over
for i, copy in enumerate(copies):
    os.dup2(copy, 3 + i)
    os.close(copy)
if sockets:
    os.environ["LISTEN_PID"] = wish.get("pid", str(os.getpid()))
    os.environ["LISTEN_FDS"] = wish.get("fds", str(len(sockets)))
    if "names" in wish:
        os.environ["LISTEN_FDNAMES"] = wish["names"]
if "uid" in wish:
    os.setgroups([])
    os.setgid(wish["uid"])
    os.setuid(wish["uid"])
os.execv(sys.argv[2], sys.argv[2:])
