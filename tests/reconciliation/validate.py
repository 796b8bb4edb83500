"""Validates answers of a reconciliation service with the published JSON schemas.

Usage: validate.py FOLDER ANSWERS, where ANSWERS is a JSON list of {"schema": name, "answer": value}.
"""

import json
import sys
from pathlib import Path

from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

# The manifest refers to this schema of Swagger for the way to authenticate.
SWAGGER = "http://swagger.io/v2/schema.json"


def read(file: Path) -> dict:
    schema = json.loads(file.read_text())
    # They name no draft; the test bench validates them as draft 7.
    schema.pop("$schema", None)
    return schema


folder, answers = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
schemas = {file.stem: read(file) for file in folder.glob("*.json")}
registry = Registry().with_resources(
    [(schema["$id"], DRAFT7.create_resource(schema)) for name, schema in schemas.items() if name != "swagger"]
    + [(SWAGGER, DRAFT7.create_resource(schemas["swagger"]))]
)
errors = [
    f"{entry['schema']}{error.json_path[1:]}: {error.message}"
    for entry in answers
    for error in Draft7Validator(schemas[entry["schema"]], registry=registry).iter_errors(entry["answer"])
]
if errors:
    sys.exit("\n".join(errors))
print(len(answers), "valid answers")
