"""An executor on flask-xxljob. The library reports a result once; threads and /idleBeat are the application's."""

import os
import threading

from flask import Flask
from flask_xxljob import FlaskXXLJob, XXLJobResponse

from jobs import Jobs
from work import Work

port = int(os.environ["EXECUTOR_LISTEN_PORT"])
app = Flask(__name__)
app.config.update(
    XXL_JOB_ADMIN_ADDRESSES=[os.environ["CARILLON_ADMIN"]],
    XXL_JOB_ACCESS_TOKEN=os.environ["CARILLON_ACCESS_TOKEN"],
    XXL_JOB_EXECUTOR_APP_NAME=os.environ.get("EXECUTOR_APP", "python-demo"),
    XXL_JOB_EXECUTOR_ADDRESS=f"http://127.0.0.1:{port}",
    XXL_JOB_REGISTRY_INTERVAL=5,
)
xxl_job = FlaskXXLJob(app)


def report(request):
    with app.app_context():
        return xxl_job.callback_success(
            log_id=request.log_id, log_date_time=request.log_date_time, message="done"
        )


work = Work(report)


@xxl_job.on_run("wait")
def run(request):
    threading.Thread(target=work.run, args=(request,), daemon=True).start()
    return XXLJobResponse.success()


def ended(report):
    def call(request, message):
        with app.app_context():
            report(log_id=request.log_id, log_date_time=request.log_date_time, message=message)

    return call


jobs = Jobs(ended(xxl_job.callback_success), ended(xxl_job.callback_failure))


def start(request):
    return XXLJobResponse.success() if jobs.start(request) else XXLJobResponse.failure("the job is running")


for name in ["echo", "fail", "sleep", "part"]:
    xxl_job.on_run(name)(start)


@xxl_job.on_kill
def kill(request):
    jobs.kill(request.job_id)
    return XXLJobResponse.success()


@xxl_job.on_idle_beat
def idle_beat(request):
    if work.is_busy(request.job_id) or jobs.is_busy(request.job_id):
        return XXLJobResponse.failure("the job is running")
    return XXLJobResponse.success()


app.run(host="127.0.0.1", port=port)
