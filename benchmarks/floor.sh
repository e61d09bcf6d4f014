#!/bin/sh
# The bare floor: what N tasks at P parallel cost with git and sh alone.
#   floor.sh REPOSITORY N P AGENT
# Per task: worktree add, the agent, commit, rebase onto the moving branch, fast-forward, worktree remove.
# What lists or changes work trees holds a lock: git itself fails when another one appears half-made.
set -eu
export FLOOR_REPO="$1" FLOOR_AGENT="$4"
export FLOOR_TREES="$FLOOR_REPO.floor"
mkdir -p "$FLOOR_TREES"

seq 1 "$2" | xargs -P "$3" -I '{}' sh -euc '
  tree="$FLOOR_TREES/$1"
  exec 9>"$FLOOR_TREES/lock"
  flock 9
  git -C "$FLOOR_REPO" worktree add -q --detach "$tree" refs/heads/floor
  flock -u 9
  cd "$tree"
  sh "$FLOOR_AGENT" >/dev/null
  git add -A
  git commit -q -m "task $1"
  flock 9
  git rebase -q refs/heads/floor
  git update-ref refs/heads/floor "$(git rev-parse HEAD)" "$(git rev-parse refs/heads/floor)"
  git -C "$FLOOR_REPO" worktree remove --force "$tree"
' floor '{}'
