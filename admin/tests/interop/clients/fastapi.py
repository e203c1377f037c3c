"""An executor on fastapi-xxljob. The library reports a result once; threads and /idleBeat are the application's."""

import os
import threading

import uvicorn
from fastapi import FastAPI
from fastapi_xxljob import FastAPIXXLJob, XXLJobResponse

from jobs import Jobs
from work import Work

port = int(os.environ["EXECUTOR_LISTEN_PORT"])
app = FastAPI()
xxl_job = FastAPIXXLJob(
    app,
    {
        "XXL_JOB_ADMIN_ADDRESSES": os.environ["CARILLON_ADMIN"],
        "XXL_JOB_ACCESS_TOKEN": os.environ["CARILLON_ACCESS_TOKEN"],
        "XXL_JOB_EXECUTOR_APP_NAME": os.environ.get("EXECUTOR_APP", "python-demo"),
        "XXL_JOB_EXECUTOR_ADDRESS": f"http://127.0.0.1:{port}",
        "XXL_JOB_REGISTRY_INTERVAL": 5,
    },
)


def report(request):
    return xxl_job.callback_success_sync(
        log_id=request.log_id, log_date_time=request.log_date_time, message="done"
    )


work = Work(report)


@xxl_job.on_run("wait")
async def run(request):
    threading.Thread(target=work.run, args=(request,), daemon=True).start()
    return XXLJobResponse.success()


def ended(report):
    return lambda request, message: report(
        log_id=request.log_id, log_date_time=request.log_date_time, message=message
    )


jobs = Jobs(ended(xxl_job.callback_success_sync), ended(xxl_job.callback_failure_sync))


async def start(request):
    return XXLJobResponse.success() if jobs.start(request) else XXLJobResponse.failure("the job is running")


for name in ["echo", "fail", "sleep", "part"]:
    xxl_job.on_run(name)(start)


@xxl_job.on_kill
async def kill(request):
    jobs.kill(request.job_id)
    return XXLJobResponse.success()


@xxl_job.on_idle_beat
async def idle_beat(request):
    if work.is_busy(request.job_id) or jobs.is_busy(request.job_id):
        return XXLJobResponse.failure("the job is running")
    return XXLJobResponse.success()


uvicorn.run(app, host="127.0.0.1", port=port)
