export CARILLON_API_TOKEN=$(openssl rand -hex 16)
node
api /apps -d '{"name":"billing","title":"Billing"}'
for number in 1 2 3 4 5 6 7; do
    api /jobs -d '{"app":"billing","name":"Job '$number'","handler":"work","schedule":{"kind":"cron","expression":"0 0 9 * * ?"}}'
done
