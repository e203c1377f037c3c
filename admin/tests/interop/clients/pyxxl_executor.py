"""An executor on pyxxl, or on pyxxljob, its older brother."""

import asyncio
import importlib
import os
import sys

name = sys.argv[1]
library = importlib.import_module(name)
settings = {
    "xxl_admin_baseurl": os.environ["CARILLON_ADMIN"] + "/xxl-job-admin/api/",
    "executor_app_name": os.environ["EXECUTOR_APP"],
    "access_token": os.environ["CARILLON_ACCESS_TOKEN"],
}
port = int(os.environ["EXECUTOR_LISTEN_PORT"])
if name == "pyxxl":
    settings |= {"executor_url": f"http://127.0.0.1:{port}", "executor_listen_port": port, "executor_listen_host": "127.0.0.1"}
else:
    settings |= {"executor_host": "127.0.0.1", "executor_port": port}
runner = library.PyxxlRunner(library.ExecutorConfig(**settings))
register = runner.register if name == "pyxxl" else runner.handler.register


def xxl():
    return importlib.import_module(f"{name}.ctx").g


@register(name="echo")
async def echo():
    params = xxl().xxl_run_data.executorParams
    if name == "pyxxl":
        xxl().logger.info("got %s", params)
    return f"got {params}"


@register(name="fail")
async def fail():
    raise RuntimeError("it is broken")


@register(name="sleep")
async def sleep():
    if name == "pyxxl":
        xxl().logger.info("sleeps")
    await asyncio.sleep(int(xxl().xxl_run_data.executorParams))


@register(name="part")
async def part():
    data = xxl().xxl_run_data
    return f"{data.broadcastIndex} of {data.broadcastTotal}"


runner.run_executor()
