export CARILLON_API_TOKEN=$(openssl rand -hex 16)
node
