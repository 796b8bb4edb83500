#!/bin/sh
# Starts Chromium for chromedriver, without the windows and menus that nobody sees in a test: pages and scripts are the
# same, and it needs half the CPU time. It opens a page only if it is asked to, and chromedriver waits for one.
exec /usr/lib/chromium/chromium-headless-shell "$@" about:blank
