#!/bin/sh
# Runs chromedriver as the leader of a process group until standard input is closed, which also happens when the test is
# killed. Then it stops the group, to which Chromium belongs, and removes the profile folder, the only argument.
profile=$1
exec 3>&1 >/dev/null
chromedriver --port=0 </dev/null >&3 3>&- 2>/dev/null &
# The test notices that chromedriver has exited when nobody can write to its standard output.
exec 3>&-
cat
trap '' TERM
kill -TERM 0
wait
# A process of Chromium may still write.
rm -rf "$profile" 2>/dev/null || { sleep 1; rm -rf "$profile"; }
