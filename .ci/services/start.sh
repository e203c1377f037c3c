# What the three services have in common: a port, a password, a process, a time limit.

die() {
    echo "with-services: $*" >&2
    exit 1
}

# Letters and digits only, so that a URL, a configuration file and SQL take it as it is.
password() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

# Below the range from which the kernel takes ports for outgoing connections.
free_port() {
    local port
    for _ in {1..50}; do
        port=$((20000 + RANDOM % 12000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
    die "no free port between 20000 and 32000"
}

# gone_within TENTHS PID: whether the process (or group, negative) has ended by then.
gone_within() {
    local tenths=$1 pid=$2
    for ((; tenths > 0; tenths--)); do
        kill -0 -- "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# launch LOG USER COMMAND…: starts a service that ends with us, however we end. Its process id: $launched
launch() {
    local log=$1 user=$2 identity=()
    shift 2
    [[ $user ]] && identity=(--reuid "$user" --regid "$user" --init-groups)
    # Its own process group: Ctrl-C is ours, and we stop the services after the tests, not with them.
    set -m
    setpriv "${identity[@]}" --pdeathsig TERM -- "$@" </dev/null >>"$log" 2>&1 &
    launched=$!
    pids+=("$launched")
    set +m
}

# ready NAME LOG PID COMMAND…: waits until COMMAND succeeds. 1: the process ended first, another port may help.
ready() {
    local name=$1 log=$2 pid=$3
    shift 3
    for _ in {1..600}; do
        if ! kill -0 "$pid" 2>/dev/null; then
            echo "with-services: $name did not start:" >&2
            tail -n 20 "$log" >&2
            unset 'pids[-1]'
            return 1
        fi
        if "$@" >/dev/null 2>&1 </dev/null; then
            # Another program may have taken the port and answered: only the one that lives is ours.
            kill -0 "$pid" 2>/dev/null && return 0
        fi
        sleep 0.1
    done
    tail -n 20 "$log" >&2
    die "$name was not ready within a minute"
}
