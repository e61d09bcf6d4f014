"""`python -m whilly` is the same as `whilly`."""

from __future__ import annotations

import sys

from whilly.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
