"""Searches: seeds by what their pictures have, made and cached like any file."""

import io
import json
import zipfile

from harness import check_problem, equal, get, post, shared


def test_a_search_is_a_file_with_a_key():
    target = "/find?type=terrestrial&ocean=65..75&rings=off&count=2&pixels=32"
    answer = get(shared(), target, ["Accept: text/html"])
    equal((answer.status, answer["Content-Type"], answer["Vary"]), (200, "application/json", None))
    assert answer["Content-Disposition"].endswith('-find.json"'), answer["Content-Disposition"]
    for same in ("/find?ocean=65.0..75&count=2&pixels=32&from=0&seed=9&fps=3", "/planet?format=find&ocean=65..75&count=2&pixels=32"):
        again = get(shared(), same)
        equal((same, again["ETag"], again["X-Cache"]), (same, answer["ETag"], "hit"))
        equal(again.body, answer.body)
    equal(post(shared(), {"format": "find", "ocean": "65..75", "count": 2, "pixels": 32})["ETag"], answer["ETag"])
    equal(post(shared(), {"format": "find", "ocean": 55, "count": 1})["ETag"], get(shared(), "/find?ocean=55&count=1")["ETag"])
    equal(get(shared(), target, ["If-None-Match: " + answer["ETag"]]).status, 304)
    equal(int(get(shared(), target, method="HEAD")["Content-Length"]), len(answer.body))
    check_problem(get(shared(), "/find", method="POST", body=b"{}"), 405, "method")


def test_what_is_found_has_what_was_looked_for():
    found = get(shared(), "/find?type=ice&caps=10..&clouds=..4&rings=on&count=4").json()
    equal((len(found["found"]), found["next"]), (4, found["tried"]))
    for one in found["found"]:
        facts = get(shared(), one["url"].replace("format=png", "format=json")).json()
        equal((facts["shares"], facts["request"]["seed"], facts["request"]["rings"]), (one["shares"], str(one["seed"]), "on"))
        assert one["shares"]["cap"] >= 0.1 and one["shares"]["cloud"] <= 0.04, one
        equal(get(shared(), one["url"]).status, 200)
    more = get(shared(), "/find?type=ice&caps=10..&clouds=..4&rings=on&count=4&from=%d" % found["next"]).json()
    assert more["found"][0]["seed"] > found["found"][-1]["seed"], more


def test_nothing_found_is_no_error():
    equal(get(shared(), "/find?ocean=100&pixels=8&from=44").json(), {"tried": 256, "found": [], "next": 300})


def test_what_a_search_refuses():
    for query, kind, name, words in (
            ("ocean=75..65", "param-range", "ocean", "the smaller first"), ("ocean=65..101", "param-range", "ocean", "0 to 100"),
            ("ocean=wet", "param-syntax", "ocean", "such as 65..75"), ("clouds=", "param-syntax", "clouds", "empty value"),
            ("type=gas&land=5", "param-combination", "land", "type=gas has no land"), ("count=25", "param-range", "count", "1 to 24"),
            ("from=x", "param-syntax", "from", "0 to 1000000000"), ("layer=light", "param-combination", "layer", "color"),
            ("pixels=1024&ocean=5", "picture-size", "pixels", "may have"), ("oceans=5", "param-unknown", "oceans", '"ocean"')):
        problem = check_problem(get(shared(), "/find?" + query), 400, kind, name)
        assert words in problem["detail"], problem
    problem = check_problem(get(shared(), "/planet?ocean=65..75"), 400, "param-combination", "ocean")
    assert "/find" in problem["detail"], problem
    equal(get(shared(), "/find.json").status, 404)


def test_a_batch_can_search():
    answer = post(shared(), ["/find?ocean=40..50&count=2&pixels=32", {"format": "find", "type": "gas", "count": 1}], target="/batch")
    equal(answer.status, 200)
    files = zipfile.ZipFile(io.BytesIO(answer.body))
    names = files.namelist()
    assert [n.endswith("-find.json") for n in names] == [True, True], names
    equal(files.read(names[0]), get(shared(), "/find?ocean=40..50&count=2&pixels=32").body)
    equal(len(json.loads(files.read(names[1]))["found"]), 1)
