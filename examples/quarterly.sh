#!/bin/sh
# Add what the registry exported and publish what is due; docs/recipes.md has the line for cron.
#
#     quarterly.sh STUDY WEB FILE...      e.g. my-study /var/www/network /srv/exports/*.csv
#
# What the commands print about records is private, so it goes into a private file and not into
# the mail that cron sends. An exit code other than 0 means that somebody has to look there.
set -eu
study=$1 web=$2
shift 2
umask 077
log="$study/private/quarterly.log"
{
    date &&
        graphveil add "$study" "$@" &&
        graphveil publish "$study" --all &&
        graphveil verify "$study"
} >>"$log" 2>&1 || {
    code=$?
    echo "graphveil stopped with exit code $code; the reason is in the study's private folder." >&2
    exit "$code"
}
umask 022
mkdir -p "$web"
cp -R "$study/public/." "$web/"
