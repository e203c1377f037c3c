"""What an application adds to flask-xxljob and fastapi-xxljob, which leave threads, queues and kills to it."""

import threading


class Jobs:
    def __init__(self, succeed, fail):
        self.succeed = succeed
        self.fail = fail
        self.lock = threading.Lock()
        self.killed = {}

    def start(self, request):
        killed = threading.Event()
        with self.lock:
            if request.job_id in self.killed:
                return False
            self.killed[request.job_id] = killed
        threading.Thread(target=self.run, args=(request, killed), daemon=True).start()
        return True

    def run(self, request, killed):
        name, params = request.executor_handler, request.executor_params
        try:
            if name == "fail":
                return self.fail(request, "it is broken")
            if name == "sleep" and killed.wait(int(params)):
                return self.fail(request, "killed")
            part = f"{request.broadcast_index} of {request.broadcast_total}"
            self.succeed(request, part if name == "part" else f"got {params}")
        finally:
            with self.lock:
                del self.killed[request.job_id]

    def is_busy(self, job_id):
        with self.lock:
            return job_id in self.killed

    def kill(self, job_id):
        with self.lock:
            killed = self.killed.get(job_id)
        if killed:
            killed.set()
