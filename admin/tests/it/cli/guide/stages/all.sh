# Before each chapter.

# node FLAGS…: a node that runs until the end of the chapter, once it is ready.
node() {
    carillon serve "$@" >>node.log 2>&1 &
    until carillon health >/dev/null 2>&1; do
        kill -0 $! || { cat node.log; return 1; }
        sleep 0.1
    done
}
# api PATH ARGUMENTS…: a request with the token of the stage.
api() { curl -sS --fail-with-body -H "Authorization: Bearer $CARILLON_API_TOKEN" "http://127.0.0.1:8080/api/v1$1" "${@:2}"; }
