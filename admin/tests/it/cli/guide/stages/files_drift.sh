job=$(api /jobs/2 | sed 's/"retries":3/"retries":5/')
api /jobs/2 -X PUT -d "$job"
