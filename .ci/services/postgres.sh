# PostgreSQL. Sets $postgres_url, of a superuser.

start_postgres() {
    local bin folder user= secret port log=$data/postgres.log
    bin=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1) || die "PostgreSQL is not installed"
    secret=$(password)
    folder=$stored/postgres
    if ((EUID == 0)); then
        # It refuses root, and its own user cannot look into, say, /root.
        user=postgres
        folder=$outside/postgres
    fi
    install -d -m 700 ${user:+-o "$user"} "$folder"

    local as_user=()
    [[ $user ]] && as_user=(setpriv --reuid "$user" --regid "$user" --init-groups --)
    install -m 600 ${user:+-o "$user"} /dev/null "$outside/password"
    echo "$secret" >"$outside/password"
    (cd / && "${as_user[@]}" "$bin/initdb" --pgdata "$folder" --username carillon --auth scram-sha-256 \
        --pwfile "$outside/password" --encoding UTF8 --locale C.UTF-8 >"$log" 2>&1) ||
        die "initdb failed: $(tail -n 5 "$log")"
    rm "$outside/password"

    for _ in 1 2 3; do
        port=$(free_port)
        launch "$log" "$user" "$bin/postgres" -D "$folder" -p "$port" -c listen_addresses=127.0.0.1 \
            -c unix_socket_directories= -c max_connections=400
        if PGPASSWORD=$secret ready PostgreSQL "$log" "$launched" \
            "$bin/psql" -X -h 127.0.0.1 -p "$port" -U carillon -d postgres -c 'CREATE DATABASE carillon'; then
            postgres_pid=$launched
            postgres_url=postgres://carillon:$secret@127.0.0.1:$port/carillon
            return
        fi
    done
    die "PostgreSQL does not start"
}
