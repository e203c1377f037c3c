# MariaDB, which stands for MySQL too. Sets $mariadb_url, of a user with all rights.

start_mariadb() {
    local folder=$stored/mariadb secret port log=$data/mariadb.log user
    user=$(id -un)
    secret=$(password)
    mariadb-install-db --no-defaults --user="$user" --datadir="$folder" --skip-test-db \
        --auth-root-authentication-method=normal >"$log" 2>&1 </dev/null ||
        die "mariadb-install-db failed: $(tail -n 5 "$log")"

    # Executed before the first connection is taken, so the account without a password is never open.
    (umask 077 && cat >"$data/mariadb.sql") <<SQL
DROP USER root@localhost;
DROP USER IF EXISTS root@'127.0.0.1', root@'::1', root@'$(hostname)';
CREATE USER carillon@'127.0.0.1' IDENTIFIED BY '$secret';
GRANT ALL PRIVILEGES ON *.* TO carillon@'127.0.0.1' WITH GRANT OPTION;
CREATE DATABASE carillon;
SQL
    for _ in 1 2 3; do
        port=$(free_port)
        # The character set is what Debian's own configuration says; everything else is the server's default.
        launch "$log" "" mariadbd --no-defaults --user="$user" --datadir="$folder" --bind-address=127.0.0.1 \
            --port="$port" --socket="$outside/mariadb.sock" --pid-file="$data/mariadb.pid" --skip-name-resolve \
            --init-file="$data/mariadb.sql" --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci \
            --max-connections=400
        if MYSQL_PWD=$secret ready MariaDB "$log" "$launched" \
            mariadb --no-defaults -h 127.0.0.1 -P "$port" -u carillon -e 'SELECT 1' carillon; then
            mariadb_url=mysql://carillon:$secret@127.0.0.1:$port/carillon
            return
        fi
    done
    die "MariaDB does not start"
}
