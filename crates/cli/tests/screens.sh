#!/bin/sh
# Makes the screens in screens/: what a terminal of 100 columns and 30 lines shows, in tmux.
# Usage: crates/cli/tests/screens.sh PROGRAM NOTES MANY
# PROGRAM is the leafbase to show, NOTES the sample notes (crates/vault/examples/tour/notes), and MANY a folder of so much
# markdown that its import takes some seconds.
set -eu
program=$(realpath "$1") notes=$(realpath "$2") many=$(realpath "$3")
screens=$(dirname "$(realpath "$0")")/screens
desk=$(mktemp -d)
session=leafbase-screens-$$
trap 'tmux kill-session -t "$session" 2>/dev/null; rm -rf "$desk"' EXIT

cd "$desk"
mkdir bin "$screens" 2>/dev/null || true
ln -s "$program" bin/leafbase
ln -s "$many" many
PATH=$desk/bin:$PATH TZ=UTC
export PATH TZ
leafbase new notes.leafbase >/dev/null
export LEAFBASE_SPACE="$desk/notes.leafbase"
leafbase import "$notes" >/dev/null
leafbase add --task 'call Ana about the room' --due tomorrow >/dev/null
leafbase add --task 'water the starter' --on yesterday >/dev/null
leafbase add --task 'oil the oak' --on today --to Lamp >/dev/null
tmux new-session -d -s "$session" -x 100 -y 30 "env PS1='\$ ' sh"
sleep 1

# Types a line into an empty terminal, waits so many seconds, and keeps what is there then.
screen() {
    tmux send-keys -t "$session" "$3" Enter
    sleep "$2"
    tmux capture-pane -p -t "$session" | sed -e 's/ *$//' -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$screens/$1.txt"
    tmux send-keys -t "$session" C-c
    sleep 1
    tmux send-keys -t "$session" 'clear' Enter
    sleep 1
}

tmux send-keys -t "$session" 'clear' Enter
sleep 1
screen tree 2 "leafbase tree; leafbase tree 'Start here'"
screen search 3 'leafbase search --all lamp brass'
screen tasks 2 'leafbase tasks'
screen links 2 "leafbase links 'Trip to Lisbon'"
screen import 2 'leafbase -s many.leafbase new; leafbase -s many.leafbase import many'
# What Ctrl-C leaves of it.
screen interrupted 2 'leafbase -s many.leafbase import many --into Again & sleep 1; kill -INT $!; wait $!; echo "exit $?"'
