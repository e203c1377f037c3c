export CARILLON_API_TOKEN=$(openssl rand -hex 16)
node
api /apps -d '{"name":"billing","title":"Billing"}'
channel=$(api /alert-channels -d '{"name":"file","kind":"file","all_apps":true}' | sed 's/^{"id":\([0-9]*\).*/\1/')
api /alert-rules -d '{"name":"failures","kinds":["failed"],"channels":['$channel']}'
api /jobs -d '{"app":"billing","name":"Close the day","handler":"closeDay","schedule":{"kind":"cron","expression":"0 30 1 * * ?"}}'
api /jobs -d '{"app":"billing","name":"Poll","handler":"poll"}'
api /jobs/2/disable -d '{"note":"the disk is full"}'
# A run that fails for want of an executor, and one that waits for a second until it does.
api /jobs/1/run -d '{}'
until api '/alert-deliveries' | grep -q '"state":"sent"'; do sleep 0.2; done
