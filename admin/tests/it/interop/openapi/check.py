"""Validates the OpenAPI document of a node, generates a client from it, and uses that client.

Arguments: the address of the API, its token, and an empty folder for the client. Prints what was done; an exception is a failure.
"""

import datetime
import importlib
import inspect
import json
import pathlib
import re
import subprocess
import sys
import urllib.request

from openapi_spec_validator import OpenAPIV31SpecValidator

METHODS = {"get", "put", "post", "delete", "patch"}
# Nothing formats the client: only its behaviour counts.
SETTINGS = {"package_name_override": "generated", "post_hooks": []}


def generate(document, folder):
    """A client under `folder`; a part of the document that the generator would leave out is a failure."""
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "settings.json").write_text(json.dumps(SETTINGS))
    arguments = ["--path", "openapi.json", "--config", "settings.json", "--output-path", "generated"]
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    done = subprocess.run(command + arguments, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"the generator ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    sys.path.insert(0, str(folder))


def operations(document):
    """The functions of the client by the identifiers of the operations. Each operation must have one."""
    found = {}
    for path, item in document["paths"].items():
        for operation in (item[method] for method in item if method in METHODS):
            name = re.sub("([A-Z])", r"_\1", operation["operationId"]).lower()
            found[name] = importlib.import_module(f"generated.api.{operation['tags'][0]}.{name}")
    return found


def same(raw, parsed):
    """What the client has read, written again, is what the node has said. A time may have another spelling."""
    if isinstance(raw, dict) and isinstance(parsed, dict):
        return raw.keys() == parsed.keys() and all(same(raw[name], parsed[name]) for name in raw)
    if isinstance(raw, list) and isinstance(parsed, list):
        return len(raw) == len(parsed) and all(map(same, raw, parsed))
    if raw == parsed:
        return True
    try:
        return datetime.datetime.fromisoformat(raw) == datetime.datetime.fromisoformat(parsed)
    except (TypeError, ValueError):
        return False


class Caller:
    def __init__(self, operations, client):
        self.operations, self.client, self.called = operations, client, set()

    def __call__(self, name, *path, refused=None, **arguments):
        """Calls an operation; the answer as an object of the client, after a comparison with the text. `refused` is the status of a refusal."""
        answer = self.operations[name].sync_detailed(*path, client=self.client, **arguments)
        is_expected = answer.status_code == refused if refused else answer.status_code // 100 == 2
        assert is_expected, f"{name}: {answer.status_code}: {answer.content}"
        self.called.add(name)
        # A deletion answers nothing, and an export lines.
        if answer.headers.get("content-type") != "application/json":
            return None
        assert answer.parsed is not None, f"{name}: the client does not know this answer: {answer.content}"
        raw, parsed = json.loads(answer.content), answer.parsed.to_dict()
        assert same(raw, parsed), f"{name}: {raw} was read as {parsed}"
        return answer.parsed


def use(call, models):
    """An app, a job with a schedule, its runs, an error, and each list."""
    app = call("create_app", body=models.AppRequest(name="generated"))
    schedule = {"kind": "cron", "expression": "0 30 2 * * ?", "timezone": "Europe/Berlin"}
    job = {"app": "generated", "name": "nightly", "handler": "report", "schedule": schedule, "tags": ["night"]}
    job = call("create_job", body=models.JobRequest.from_dict(job))
    assert job.schedule.expression == schedule["expression"] and job.tags == ["night"]
    assert isinstance(job.next_fire_at, datetime.datetime), job.next_fire_at

    every_minute = {"kind": "fixed_rate", "seconds": 60}
    change = models.JobUpdate.from_dict(job.to_dict() | {"retries": 3, "schedule": every_minute})
    changed = call("update_job", job.id, body=change)
    assert (changed.retries, changed.schedule.seconds, changed.revision) == (3, 60, job.revision + 1)
    refused = call("update_job", job.id, body=change, refused=409)
    assert isinstance(refused, models.Error) and refused.error.message, refused
    call("disable_job", job.id)

    run = call("run_job", job.id, body=models.RunRequest(params="by the client"))
    assert call("get_run", run.id).job_id == job.id
    listed = call("list_runs", job_id=job.id, cause=models.Cause.API)
    assert [found.id for found in listed.items] == [run.id], listed
    assert [found.id for found in call("list_jobs", app="generated", tag="night").items] == [job.id]
    assert call("next_instants", job.id, count=3)
    call("get_job", 999_999_999, refused=404)

    # Each list and report that asks for nothing.
    for name, module in call.operations.items():
        kwargs = inspect.signature(module._get_kwargs).parameters.values()
        is_plain = all(it.default is not inspect.Parameter.empty for it in kwargs)
        if is_plain and module._get_kwargs()["method"] == "get" and "sync" in vars(module):
            call(name)

    call("delete_job", job.id)
    call("delete_app", app.id)


def main():
    url, token, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    document = json.load(urllib.request.urlopen(f"{url}/openapi.json"))
    assert document["openapi"].startswith("3.1"), document["openapi"]
    OpenAPIV31SpecValidator(document).validate()
    generate(document, folder)
    generated, models = importlib.import_module("generated"), importlib.import_module("generated.models")
    functions = operations(document)
    with generated.AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True) as client:
        call = Caller(functions, client)
        use(call, models)
    print(f"valid; {len(functions)} operations generated, {len(call.called)} called")


main()
