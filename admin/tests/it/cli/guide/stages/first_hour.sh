# A crate is not built here: the workspace has built the program of the document as an example. Nothing is fetched: what the commands want
# is there for the tests.
export CARGO_NET_OFFLINE=true PIP_NO_INDEX=1
cargo() {
    if [[ $1 == run ]]; then exec "$BUILT/examples/greeter"; else HOME=$OWN_HOME command cargo "$@"; fi
}
python3() {
    if [[ $1 == -m ]]; then ln -s "$(dirname "$(dirname "$PYTHON")")" "$3"; else command python3 "$@"; fi
}
