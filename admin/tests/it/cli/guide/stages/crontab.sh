cat > crontab <<'END'
MAILTO=ops@example.org
# Close the day
30 23 * * 1-5 /opt/billing/close-day
*/5 * * * * /opt/billing/poll

@reboot /opt/billing/warm-up
@daily find /var/tmp/billing -mtime +7 -delete
END
kubectl() {
    cat <<'END'
apiVersion: v1
kind: List
items:
  - apiVersion: batch/v1
    kind: CronJob
    metadata: {namespace: billing, name: close-day}
    spec:
      schedule: "30 23 * * 1-5"
      timeZone: Europe/Berlin
      jobTemplate:
        spec:
          template:
            spec:
              containers: [{name: main, image: "billing:7", command: [close-day]}]
END
}
