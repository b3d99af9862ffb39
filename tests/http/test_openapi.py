"""/openapi.json: is it OpenAPI, and does the binary do what it says? Every example in it is asked for."""

import json
import os
import re
import subprocess
import urllib.parse

import harness
from harness import check_problem, equal, get, post, shared
from npm import npm_folder

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECKER = os.path.join("node_modules", "@seriousme", "openapi-schema-validator", "bin", "validate-api-cli.js")


def document():
    with open(os.path.join(ROOT, "api", "openapi.json"), encoding="utf-8") as file:
        return json.load(file)


DOCUMENT = document()


def followed(value):
    """The value, or what its $ref leads to."""
    while "$ref" in value:
        target = DOCUMENT
        for name in value["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        value = target
    return value


def operations(*methods):
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if method in methods:
                yield path, method, operation


def fits(value, schema):
    """As much of JSON Schema as the document uses."""
    schema = followed(schema)
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
             "null": type(None)}
    if "type" in schema and (not isinstance(value, kinds[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean")):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return set(schema.get("required", [])) <= set(value) and all(fits(v, known.get(n, {})) for n, v in value.items()) and (
            schema.get("additionalProperties", True) or set(value) <= set(known))
    if isinstance(value, list):
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and all(fits(v, schema.get("items", {})) for v in value)
    if isinstance(value, str):
        return (schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)) and value in schema.get("enum", [value])
                and re.search(schema.get("pattern", ""), value) is not None)
    if value is None or isinstance(value, bool):
        return True
    return schema.get("minimum", value) <= value <= schema.get("maximum", value) and value in schema.get("enum", [value])


def check_answer(answer, operation, head=False, about=None):
    """Status, type, headers and document are among those that are promised. Returns the status."""
    about = (about, answer.status, answer.body[:300])
    promised = operation["responses"].get(str(answer.status))
    assert promised, about
    promised = followed(promised)
    for name, header in promised.get("headers", {}).items():
        header = followed(header)
        assert answer[name] is not None or not header["required"], (about, name)
        if answer[name] is not None:
            assert fits(int(answer[name]) if header["schema"]["type"] == "integer" else answer[name], header["schema"]), (about, name, answer[name])
    content = promised.get("content")
    if head:
        assert content is None or answer.status >= 400, about
        return answer.status
    assert (content is None) == (answer.status == 304), about
    if content is not None:
        assert answer["Content-Type"] in content, (about, answer["Content-Type"])
        if "json" in answer["Content-Type"]:
            assert fits(answer.json(), content[answer["Content-Type"]]["schema"]), about
    return answer.status


def quoted(value):
    return urllib.parse.quote(value if isinstance(value, str) else json.dumps(value), safe="")


def filled(path, operation, **chosen):
    """The path with examples in it."""
    for parameter in operation.get("parameters", []):
        parameter = followed(parameter)
        if parameter["in"] == "path":
            example = next(iter(parameter["examples"].values()))["value"]
            path = path.replace("{%s}" % parameter["name"], quoted(chosen.get(parameter["name"], example)))
    assert "{" not in path, path
    return path


def test_the_binary_serves_the_committed_openapi_document():
    with open(os.path.join(ROOT, "api", "openapi.json"), "rb") as file:
        committed = file.read()
    for _ in range(2):
        answer = get(shared(), "/openapi.json")
        equal((answer.status, answer["Content-Type"], answer["Cache-Control"]), (200, "application/json", "public, max-age=3600"))
        assert answer.body == committed, "api/openapi.json is not what the binary serves: make docs"
    equal(int(get(shared(), "/openapi.json", method="HEAD")["Content-Length"]), len(committed))
    check_problem(get(shared(), "/openapi.json", method="POST", body=b"{}"), 405, "method")
    assert b"/openapi.json" in get(shared(), "/").body


def test_a_validator_finds_nothing_wrong_with_the_openapi_document():
    work = npm_folder("openapi", "the validator")
    for path, good in ((os.path.join(ROOT, "api", "openapi.json"), True), (os.path.join(work, "broken.json"), False)):
        if not good:  # does it find anything at all?
            with open(path, "w", encoding="utf-8") as file:
                json.dump(dict(DOCUMENT, paths={"/x": {"get": {"responses": {"200": {"content": 3}}}}}), file)
        done = subprocess.run(["node", CHECKER, path], cwd=work, capture_output=True, timeout=harness.PATIENCE, check=False)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        assert ('"valid": true' in said) == good and (done.returncode == 0) == good, (path, done.returncode, said[:2000])


def test_every_example_of_an_operation_works():
    count = 0
    for path, method, operation in operations("get", "head"):
        assert operation["x-examples"], path
        for target in operation["x-examples"]:
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
            assert re.fullmatch(pattern, target.split("?")[0]), (path, target)
            answer = get(shared(), target, method=method.upper())
            equal((target, check_answer(answer, operation, method == "head", target)), (target, 200))
            count += 1
    assert count >= 30, count


def test_every_example_of_a_parameter_works_in_every_operation_that_has_it():
    count = 0
    for path, _, operation in operations("get"):
        for parameter in map(followed, operation.get("parameters", [])):
            examples = [e["value"] for e in parameter["examples"].values()] if "examples" in parameter else [parameter["example"]]
            for value in examples:
                assert fits(value, parameter["schema"]), (parameter["name"], value)
                if parameter["in"] == "header":
                    answer = get(shared(), filled(path, operation), ["%s: %s" % (parameter["name"], value)])
                elif parameter["in"] == "path":
                    answer = get(shared(), filled(path, operation, **{parameter["name"]: value}))
                else:
                    answer = get(shared(), "%s?%s=%s" % (filled(path, operation), parameter["name"], quoted(value)))
                about = (path, parameter["name"], value)
                equal((about, check_answer(answer, operation, False, about)), (about, 200))
                count += 1
    assert count >= 150, count


def test_every_example_of_a_body_works():
    content = DOCUMENT["paths"]["/planet"]["post"]["requestBody"]["content"]
    equal(list(content), ["application/json"])
    examples = content["application/json"]["examples"]
    assert len(examples) >= 3
    for name, example in examples.items():
        assert fits(example["value"], content["application/json"]["schema"]), name
        answer = post(shared(), example["value"])
        equal((name, check_answer(answer, DOCUMENT["paths"]["/planet"]["post"], False, name)), (name, 200))


def test_every_example_of_a_batch_works():
    operation = DOCUMENT["paths"]["/batch"]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    assert len(content["examples"]) >= 2
    for name, example in content["examples"].items():
        assert fits(example["value"], content["schema"]), name
        answer = post(shared(), example["value"], target="/batch")
        equal((name, check_answer(answer, operation, False, name)), (name, 200))
    for wrong in ([], {"requests": []}, ["seed=1"] * 65, [3], {"requests": ["seed=1"], "more": 1}, "seed=1"):
        assert not fits(wrong, content["schema"]), wrong
        equal(check_answer(post(shared(), wrong, target="/batch"), operation), 400)


def outside(schema):
    """Values that the schema just doesn't allow."""
    if "enum" in schema:
        return ["", schema["enum"][0] + "x", schema["enum"][0][:-1], schema["enum"][0].upper()]
    if schema["type"] in ("integer", "number"):
        step = schema.get("x-step", 1)
        values = [round(schema["minimum"] - step, 6), round(schema["maximum"] + step, 6)]
        return values + ([schema["minimum"] + 0.5] if schema["type"] == "integer" else [])
    if "maxLength" in schema:
        return ["", "x" * (schema["maxLength"] + 1), "a\u0007b", "a\u0085b"]
    return ["", "12345", "ff88000", "#", "none,none", "auto,", ",".join(["ff0000"] * 17)]


def test_values_just_outside_of_what_is_documented_are_400():
    operation = DOCUMENT["paths"]["/planet"]["get"]
    count = 0
    for parameter in map(followed, operation["parameters"]):
        if parameter["in"] != "query":
            continue
        schema = followed(parameter["schema"])
        for value in outside(schema):
            assert not fits(value, schema), (parameter["name"], value)
            for answer in (get(shared(), "/planet?%s=%s" % (parameter["name"], quoted(value))), post(shared(), {parameter["name"]: value})):
                check_problem(answer, 400, None, parameter["name"])
                check_answer(answer, operation, False, (parameter["name"], value))
                count += 1
    assert count >= 100, count


def test_values_at_the_ends_of_what_is_documented_are_in_range():
    for parameter in map(followed, DOCUMENT["paths"]["/planet"]["get"]["parameters"]):
        schema = followed(parameter["schema"])
        if schema["type"] not in ("integer", "number"):
            continue
        for value in (schema["minimum"], schema["maximum"]):
            answer = get(shared(), "/planet?type=moon&%s=%s" % (parameter["name"], quoted(value)), method="HEAD")
            # A revision that isn't this one, or frames of a still, are in range and yet no picture.
            assert answer.status == 200 or parameter["name"] in ("rev", "frames"), (parameter["name"], value, answer.status)


def test_documented_defaults_are_those_of_the_binary():
    count = 0
    plain = get(shared(), "/planet.png")["ETag"]
    for name, schema in DOCUMENT["components"]["schemas"].items():
        if "default" in schema and name != "format":
            answer = get(shared(), "/planet.png?%s=%s" % (name, quoted(schema["default"])))
            equal((name, answer.status, answer["ETag"]), (name, 200, plain))
            count += 1
    assert count >= 15, count
    equal(get(shared(), "/planet?format=" + DOCUMENT["components"]["schemas"]["format"]["default"])["ETag"], plain)


def test_errors_are_answered_as_documented():
    planet = DOCUMENT["paths"]["/planet"]
    table = [("get", 400, "/planet?bogus=1", [], None), ("get", 400, "/planet?seed=%zz", [], None), ("get", 404, "/planet?rev=2", [], None),
             ("get", 406, "/planet", ["Accept: text/html"], None), ("get", 414, "/planet?seed=" + "x" * 5000, [], None),
             ("get", 431, "/planet", ["X-Long: " + "x" * 9000], None), ("head", 400, "/planet?bogus=1", [], None),
             ("post", 400, "/planet", ["Content-Type: application/json"], b"{"), ("post", 415, "/planet", ["Content-Type: text/plain"], b"{}"),
             ("post", 413, "/planet", ["Content-Type: application/json"], b" " * 70000)]
    for method, status, target, headers, body in table:
        answer = get(shared(), target, headers, method.upper(), body)
        equal((target[:40], check_answer(answer, planet[method], method == "head", target[:40])), (target[:40], status))
    tag = get(shared(), "/planet?seed=1")["ETag"]
    equal(check_answer(get(shared(), "/planet?seed=1", ["If-None-Match: " + tag]), planet["get"]), 304)
    elsewhere = DOCUMENT["components"]["responses"]
    for status, answer in ((404, get(shared(), "/nowhere")), (405, get(shared(), "/types", method="POST", body=b"{}"))):
        equal(check_answer(answer, {"responses": {str(status): elsewhere["Problem%d" % status]}}), status)
