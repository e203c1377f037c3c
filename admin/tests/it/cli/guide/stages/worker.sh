export CARILLON_API_TOKEN=$(openssl rand -hex 16)
node --scripts
api /apps -d '{"name":"operations","title":"Operations"}'
cp carillon-data/access-token worker-token
