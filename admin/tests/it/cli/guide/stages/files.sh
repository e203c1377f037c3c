export CARILLON_API_TOKEN=$(openssl rand -hex 16)
export CARILLON_TOKEN=$CARILLON_API_TOKEN
node
mkdir jobs
sed -n '/^```yaml$/,/^```$/{//!p}' "$CHECKOUT/admin/docs/files.md" > jobs/billing.yaml
carillon apply jobs
sed -i 's/retries: 2/retries: 3/; s/0 30 23/0 0 22/' jobs/billing.yaml
api /jobs -d '{"app":"billing","key":"by-hand","name":"By hand","handler":"byHand"}'
cat > bad.yaml <<'END'
format: 1
set: billing
jobs:
  - key: close-day
    app: billing
    name: Close the day
    handler: closeDay
    retries: often
    schedule: {kind: cron, expression: "0 0 25 * * ?"}
    colour: red
END
cat > cron.yaml <<'END'
format: 1
set: billing
jobs:
  - key: tick
    app: billing
    name: Tick
    handler: tick
    schedule:
      kind: unix_cron
      expression: */5 * * * *
END
printf '%s\n' 'format: 1' 'set: billing' 'jobs:' '  - {key: by-hand, app: billing, name: By hand, handler: byHand}' > one.yaml
printf '%s\n' 'format: 1' 'set: billing' 'jobs: []' > none.yaml
