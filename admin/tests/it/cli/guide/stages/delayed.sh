export CARILLON_API_TOKEN=$(openssl rand -hex 16)
node
api() { curl -sS --fail-with-body -w '\n' -H "Authorization: Bearer $CARILLON_API_TOKEN" "http://127.0.0.1:8080/api/v1$@"; }
api /apps -d '{"name":"billing","title":"Billing"}'
api /jobs -d '{"app":"billing","name":"Remind","handler":"remind"}'
