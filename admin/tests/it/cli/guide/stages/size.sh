export CARILLON_DATABASE_URL=$POSTGRES CARILLON_API_TOKEN=$(openssl rand -hex 16) CARILLON_ACCESS_TOKEN=$(openssl rand -hex 16)
node
api /apps -d '{"name":"billing","title":"Billing"}'
for number in 1 2 3 4 5; do
    api /jobs -d '{"app":"billing","name":"Job '$number'","handler":"work","schedule":{"kind":"fixed_rate","seconds":1}}'
done
until api '/runs?state=failed' | grep -q failed; do sleep 0.2; done
