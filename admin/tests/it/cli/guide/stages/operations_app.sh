api /apps -d '{"name":"billing","title":"Billing"}'
