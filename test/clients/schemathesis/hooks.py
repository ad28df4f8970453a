"""Mends what would keep a request from getting far, though nothing is wrong with it."""

import json
import os
import re
import uuid

import schemathesis

KEY = re.compile("[!-~]([ -~]{0,253}[!-~])?")
ENTITY_TAGS = re.compile('[*]|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*')

NAMED = json.loads(os.environ["NAMED_IN_BODIES"])


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    # A key that came with another request is refused, as it should be: each request has one of its own.
    key = headers.get("idempotency-key")
    if isinstance(key, str) and KEY.fullmatch(key):
        headers["idempotency-key"] = str(uuid.uuid4())
    # The phase "coverage" fills in "0", whatever the pattern, and calls that valid.
    tags = headers.get("if-match")
    valid = case.meta is not None and case.meta.generation.mode.value == "positive"
    if valid and tags is not None and not ENTITY_TAGS.fullmatch(tags):
        del headers["if-match"]
    # What a body names has to be there.
    if valid and isinstance(case.body, dict):
        case.body.update({name: real for name, real in NAMED.get(case.operation.label, {}).items() if name in case.body})
    # What a dry run answers is described once, and not for each operation.
    if headers.get("tradewind-dry-run") == "true":
        del headers["tradewind-dry-run"]
