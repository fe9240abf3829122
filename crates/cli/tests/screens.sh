#!/bin/sh
# Makes the screens in screens/: what terminals of 80 and 120 columns show in tmux, in colour (escapes are shown as ␛) and without.
# Usage: crates/cli/tests/screens.sh [--check] PROGRAM NOTES [MANY]
# PROGRAM is the leafbase to show, NOTES the sample notes (crates/vault/examples/tour/notes). With --check nothing is written: it fails
# if a screen differs. MANY is a folder of so much markdown that its import takes some seconds: for the screens of progress, which
# depend on the machine and are not checked.
set -eu
check=
[ "$1" != --check ] || { check=1; shift; }
program=$(realpath "$1") notes=$(realpath "$2") many=${3:+$(realpath "$3")}
screens=$(dirname "$(realpath "$0")")/screens
desk=$(mktemp -d)
session=leafbase-screens-$$
trap 'tmux kill-session -t "$session" 2>/dev/null || true; rm -rf "$desk"' EXIT

cd "$desk"
mkdir bin made home
ln -s "$program" bin/leafbase
[ -z "$many" ] || ln -s "$many" many
PATH=$desk/bin:$PATH TZ=UTC HOME=$desk/home
export PATH TZ HOME
unset XDG_STATE_HOME XDG_DATA_HOME LEAFBASE_HISTORY NO_COLOR || true
leafbase new sample.leafbase >/dev/null
leafbase -s sample.leafbase import "$notes" >/dev/null
leafbase -s sample.leafbase add --task 'call Ana about the room' --due tomorrow >/dev/null
leafbase -s sample.leafbase add --task 'water the starter' --on yesterday >/dev/null
leafbase -s sample.leafbase add --task 'oil the oak' --on today --to Lamp >/dev/null

# Masks what differs between runs, without changing a width.
mask() {
    sed -E -e 's/01[0-9A-HJKMNP-TV-Z]{24}/01XXXXXXXXXXXXXXXXXXXXXXXX/g' \
        -e "s/$(date +%F)|$(date -d yesterday +%F)|$(date -d tomorrow +%F)/YYYY-MM-DD/g" \
        -e 's/[0-9]{2}:[0-9]{2}(:[0-9]{2})?/hh:mm/g' -e "s/$(printf '\033')/␛/g" -e 's/ *$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

begin() {
    rm -rf notes.leafbase home/.local
    cp -R sample.leafbase notes.leafbase
    LEAFBASE_SPACE=$desk/notes.leafbase
    export LEAFBASE_SPACE
    tmux new-session -d -s "$session" -x "$1" -y 30 "env PS1='\$ ' ${2:-} sh"
    sleep 1
}

# Types lines into an empty terminal, each after so many seconds, and keeps what is there at the end.
screen() {
    name=$1 pause=$2
    shift 2
    tmux send-keys -t "$session" 'clear' Enter
    sleep 1
    for line; do
        tmux send-keys -t "$session" -l "$line"
        tmux send-keys -t "$session" Enter
        sleep "$pause"
    done
    tmux capture-pane -e -p -t "$session" | mask >"made/$folder/$name.txt"
    tmux send-keys -t "$session" C-c
    sleep 0.5
}

# Presses keys one after the other, and keeps what the screens of leafbase tui show then.
tui_screen() {
    name=$1
    shift
    for key; do
        tmux send-keys -t "$session" "$key"
        sleep 0.3
    done
    sleep 1
    tmux capture-pane -e -p -t "$session" | mask >"made/$folder/$name.txt"
}

screens_of_tui() {
    tmux send-keys -t "$session" 'clear; leafbase tui' Enter
    sleep 1
    tui_screen tui-tree Down Down Down Enter
    tui_screen tui-search / 'warm shirts'
    tui_screen tui-edit Enter e ' and more'
    tui_screen tui-saved Enter
    # The document is as it was, and the terminal, too.
    tui_screen tui-quit u q
}

for columns in 80 120; do
    for colour in '' NO_COLOR=1; do
        folder=$columns${colour:+-plain}
        mkdir "made/$folder"
        begin "$columns" "$colour"
        screen ls 1 'leafbase ls'
        screen tree 1 'leafbase tree; leafbase tree "Start here"'
        screen search 2 'leafbase search --all lamp brass'
        screen grep 1 'leafbase grep -n "brass hinge|the arm is"'
        screen tasks 1 'leafbase tasks' 'leafbase tasks --done 2'
        screen links 1 'leafbase links "Trip to Lisbon"'
        screen edit 1 'EDITOR="sed -i s/brass/copper/" leafbase edit Lamp' 'leafbase diff Lamp'
        screen shell 1 'leafbase shell' 'ls' 'tasks' 'cat Nothing' '.quit'
        screens_of_tui
        tmux kill-session -t "$session"
        if [ -n "$colour" ] && grep -l '␛' "made/$folder"/*; then
            echo "escapes without colour" >&2
            exit 1
        fi
    done
done

if [ -n "$check" ]; then
    for folder in made/*; do
        diff -r "$folder" "$screens/$(basename "$folder")"
    done
    exit
fi
rm -rf "$screens"/80* "$screens"/120*
cp -R made/* "$screens"
[ -n "$many" ] || exit 0

folder=many
mkdir made/many
begin 100
screen import 2 'leafbase -s many.leafbase new; leafbase -s many.leafbase import many'
# What Ctrl-C leaves of it.
screen interrupted 2 'leafbase -s many.leafbase import many --into Again & sleep 1; kill -INT $!; wait $!; echo "exit $?"'
cp made/many/* "$screens"
