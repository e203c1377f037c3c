echo secret-of-the-client > oidc-secret
export CARILLON_API_TOKEN=$(openssl rand -hex 16)
