# Redis. Sets $redis_url.

start_redis() {
    local folder=$data/redis secret port log=$data/redis.log
    mkdir -p "$folder"
    secret=$(password)
    for _ in 1 2 3; do
        port=$(free_port)
        # As Debian sets it up: a clean restart keeps the keys, a kill loses what is younger than the last snapshot.
        (umask 077 && cat >"$data/redis.conf") <<CONF
bind 127.0.0.1
port $port
requirepass $secret
dir $folder
save 3600 1 300 100 60 10000
appendonly no
CONF
        launch "$log" "" redis-server "$data/redis.conf"
        if REDISCLI_AUTH=$secret ready Redis "$log" "$launched" \
            redis-cli -e -h 127.0.0.1 -p "$port" ping; then
            redis_url=redis://:$secret@127.0.0.1:$port/
            return
        fi
    done
    die "Redis does not start"
}
