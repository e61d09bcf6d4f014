"""What the doctor looks at: each check is a function from a site to what it found."""

from __future__ import annotations
