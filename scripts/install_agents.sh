#!/usr/bin/env bash
# Installs what the tests with real agent CLIs need: the scripted model server into .agents/, Claude Code into .venv.
# Run again, it only does what is missing. Needs Node.js 20.15 or later with npm for the model server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

AIMOCK=1.43.0
INSTALLED=.agents/node_modules/@copilotkit/aimock/package.json

command -v npm >/dev/null || { echo "no npm on PATH → install Node.js 20.15 or later" >&2; exit 1; }
if ! grep -qs "\"version\": \"$AIMOCK\"" "$INSTALLED"; then
  # --ignore-scripts: the package needs none, and so none can run.
  npm install --prefix .agents --no-audit --no-fund --no-save --ignore-scripts --loglevel error "@copilotkit/aimock@$AIMOCK"
fi
# Does nothing when the lock file's packages are there already.
python3 dev.py setup --e2e
echo "scripted model: $PWD/$(dirname "$INSTALLED")/dist/cli.js"
