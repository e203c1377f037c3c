job=$(api /jobs/1 | sed 's/"retries":3/"retries":5/')
api /jobs/1 -X PUT -d "$job"
