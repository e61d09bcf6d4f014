#!/usr/bin/env bash
# Installs what the tests with real agent CLIs need: the scripted model server and the CLIs from npm into .agents/,
# Claude Code into .venv. Run again, it only does what is missing. Needs Node.js 20.15 or later with npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The one place where their versions are; Claude Code's is in the lock file.
PACKAGES=(
  "@copilotkit/aimock@1.43.0"
  "@openai/codex@0.171.0"
  "@google/gemini-cli@0.61.0"
  # Not an agent: GitHub's published schema, against which our GraphQL is checked.
  "@octokit/graphql-schema@15.26.1"
  # Not an agent either: somebody else's GitHub, for issues.
  "emulate@0.11.2"
  # The program itself: the package that would choose it does so in a script when it is installed.
  "opencode-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@1.18.33"
)
STAMP=.agents/packages.txt

command -v npm >/dev/null || { echo "no npm on PATH → install Node.js 20.15 or later" >&2; exit 1; }
if [ "$(cat "$STAMP" 2>/dev/null)" != "${PACKAGES[*]}" ]; then
  # --ignore-scripts: no package needs one, and so none can run.
  npm install --prefix .agents --no-audit --no-fund --no-save --ignore-scripts --loglevel error "${PACKAGES[@]}"
  echo "${PACKAGES[*]}" >"$STAMP"
fi
# Does nothing when the lock file's packages are there already.
python3 dev.py setup --e2e
echo "installed: ${PACKAGES[*]}"
