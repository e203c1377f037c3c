[[ $MARIADB =~ ^mysql://(.*):(.*)@(.*):([0-9]+)/(.*)$ ]]
printf '[client]\nuser=%s\npassword=%s\nhost=%s\nport=%s\n' "${BASH_REMATCH[@]:1:4}" > mariadb.cnf
chmod 600 mariadb.cnf
# The database of the document has another name here.
mariadb-dump() { command mariadb-dump "${@/#carillon/${MARIADB##*/}}"; }
mariadb() { command mariadb "${@/#carillon/${MARIADB##*/}}"; }
