"""`python -m whilly` is the same as `whilly`."""

from __future__ import annotations

from whilly.cli.main import main

main()
