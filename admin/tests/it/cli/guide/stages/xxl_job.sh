carillon migrate
[[ $XXL_JOB =~ ^mysql://(.*):(.*)@(.*):([0-9]+)/(.*)$ ]]
printf '[client]\nuser=%s\npassword=%s\nhost=%s\nport=%s\n' "${BASH_REMATCH[@]:1:4}" > mariadb.cnf
sql() { mariadb --defaults-extra-file=mariadb.cnf --execute "$1" "${XXL_JOB##*/}"; }
