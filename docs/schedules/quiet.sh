#!/bin/sh
# Runs a command for cron: what it prints goes to a log, and to cron's mail only where it failed.
#
#     sh quiet.sh "0 10 11 20" elman retrain --json
#
# The first word lists the exit codes that are no failure. The logs stand below mlruns/logs (ELMAN_LOGS=... for another
# folder), one a month and command; those older than 400 days are deleted. The exit code is 0, or the command's own where
# it failed.
set -u
fine=$1
shift
logs=${ELMAN_LOGS:-mlruns/logs}
mkdir -p "$logs" || exit 36
log=$logs/$(basename "$1")-${2:-run}-$(date +%Y-%m).log
find "$logs" -name '*.log' -mtime +400 -delete
output=$(mktemp) || exit 36
trap 'rm -f "$output"' EXIT
trap 'kill "$child" 2>/dev/null; wait "$child"' HUP INT TERM

"$@" >"$output" 2>&1 &
child=$!
wait "$child"
code=$?
{ printf '%s  %s  exit code %s\n' "$(date '+%Y-%m-%d %H:%M:%S')" "$*" "$code"; cat "$output"; } >>"$log" || code=36
case " $fine " in
*" $code "*) exit 0 ;;
esac
printf '%s ended with exit code %s on %s; the log is %s\n\n' "$*" "$code" "$(uname -n)" "$log"
cat "$output"
exit "$code"
