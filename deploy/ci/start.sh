#!/bin/sh
# Starts Tradewind for a test job, waits until it is ready, and prints what the official SDK and the test kits read:
#   deploy/ci/start.sh ./tradewind-0.2.0.tgz >> "$GITHUB_ENV"
# The package is a file of a release, or what else "npx --package" takes. The server goes on until SERVER_PID is ended, or the job.
set -eu
package=${1:?the package to start}
port=${TRADEWIND_PORT:-8080}
folder=$(mktemp -d)
token=${TRADEWIND_BOOTSTRAP_TOKEN:-1_$(node -p "crypto.randomBytes(32).toString('hex')")}
export TRADEWIND_PORT="$port" TRADEWIND_BOOTSTRAP_TOKEN="$token" TRADEWIND_DATA_DIR="$folder/data"
export TRADEWIND_TEST_API="${TRADEWIND_TEST_API:-true}"
export TRADEWIND_SIMULATION_SPEED="${TRADEWIND_SIMULATION_SPEED:-1000}"
[ -n "${DATABASE_URL:-}" ] || export TRADEWIND_DURABILITY="${TRADEWIND_DURABILITY:-relaxed}"
export TRADEWIND_RATE_LIMIT="${TRADEWIND_RATE_LIMIT:-0}" TRADEWIND_AI_CONCURRENCY="${TRADEWIND_AI_CONCURRENCY:-0}"

# npx takes an absolute path for a program unless it is told that it is a package. In a session of its own, so that it outlives this step.
setsid npx --yes --package "$package" tradewind serve > "$folder/log" 2>&1 < /dev/null &
pid=$!
until grep -q 'Tradewind is ready' "$folder/log"; do
  if ! kill -0 "$pid" 2> /dev/null; then
    cat "$folder/log" >&2
    exit 1
  fi
  sleep 0.1
done
url=$(sed -n 's/^Tradewind is ready at \([^ ]*\).*/\1/p' "$folder/log")
echo "GCORE_BASE_URL=$url/gcore"
echo "GCORE_API_KEY=$token"
echo "TRADEWIND_URL=$url"
echo "TRADEWIND_TOKEN=$token"
echo "SERVER_PID=$pid"
echo "SERVER_LOG=$folder/log"
