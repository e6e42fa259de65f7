#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates run documents against data/schema/run.schema.json, and shows that damaged ones are rejected.

usage: validate_schema.py SCHEMA DOCUMENT...            every document must be valid
       validate_schema.py SCHEMA --reject FULL.json     every damaged copy of FULL.json must be invalid
"""
import copy
import json
import sys

import jsonschema


def delete(document, path):
    for key in path[:-1]:
        document = document[key]
    del document[path[-1]]


def replace(document, path, value):
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


MISSING = object()
CHECK = ("checks", 1)
DAMAGE = [
    (("schema_version",), 2),
    (("schema_version",), MISSING),
    (("context",), MISSING),
    (("context", "date"), "yesterday"),
    (("context", "num_cpus"), -1),
    (("context", "gpu"), "fast"),
    (("context", "devices", 0, "number_of_sms"), MISSING),
    (("checks",), {}),
    (("benchmarks", ), [{}]),
    (("summary", "failed"), "1"),
    (("summary", "ignored"), 1),
    (("complete",), "yes"),
    (("extra",), 1),
    (CHECK + ("loss",), ""),
    (CHECK + ("pass",), "sideways"),
    (CHECK + ("dtype",), "fp32"),
    (CHECK + ("n",), -1),
    (CHECK + ("n",), 1.5),
    (CHECK + ("seed",), -1),
    (CHECK + ("kernel_hash",), "XYZ"),
    (CHECK + ("files",), []),
    (CHECK + ("verdict",), "fine"),
    (CHECK + ("verdict",), MISSING),
    (CHECK + ("reason",), ""),
    (CHECK + ("reason",), "two\nlines"),
    (CHECK + ("kinkz",), 1),
    (CHECK + ("compared",), "many"),
    (CHECK + ("bound_usage", "max"), "inf"),
    (CHECK + ("bound_usage", "q999"), MISSING),
    (CHECK + ("bound_usage",), None),
    (CHECK + ("worst", 0, "got"), None),
    (CHECK + ("worst", 0, "inputs", "pred"), 1),
    (CHECK + ("worst", 0, "inputs", "pred", 0), "nan"),
    (CHECK + ("worst", 0, "bound"), MISSING),
    (CHECK + ("worst", 0, "item"), -1),
    (CHECK + ("command",), MISSING),
]


def rejects_all(validator, document):
    slipped = []
    for path, value in DAMAGE:
        damaged = copy.deepcopy(document)
        delete(damaged, path) if value is MISSING else replace(damaged, path, value)
        if validator.is_valid(damaged):
            slipped.append(("without " if value is MISSING else f"{value!r} at ") + "/".join(map(str, path)))
    for one in slipped:
        print("accepted although wrong:", one)
    print(f"{len(DAMAGE) - len(slipped)} of {len(DAMAGE)} damaged documents rejected")
    return not slipped


def strict_constant(text):
    raise ValueError(f"{text} is not JSON")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=strict_constant)


def main():
    schema = load(sys.argv[1])
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    if sys.argv[2] == "--reject":
        return 0 if rejects_all(validator, load(sys.argv[3])) else 1
    status = 0
    for path in sys.argv[2:]:
        errors = sorted(validator.iter_errors(load(path)), key=lambda error: list(map(str, error.path)))
        for error in errors[:10]:
            print(f"{path}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
        print(f"{path}: {'valid' if not errors else 'invalid'}")
        status |= bool(errors)
    return status


if __name__ == "__main__":
    sys.exit(main())
