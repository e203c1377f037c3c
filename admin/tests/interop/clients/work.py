"""A run that lasts until the file `go` is there, and reports once; then the file `reported` is there."""

import pathlib
import threading
import time


class Work:
    def __init__(self, report):
        self.report = report
        self.lock = threading.Lock()
        self.running = {}

    def is_busy(self, job_id):
        with self.lock:
            return self.running.get(job_id, 0) > 0

    def run(self, request):
        self.count(request.job_id, 1)
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        try:
            self.report(request)
        finally:
            self.count(request.job_id, -1)
            pathlib.Path("reported").touch()

    def count(self, job_id, change):
        with self.lock:
            self.running[job_id] = self.running.get(job_id, 0) + change
