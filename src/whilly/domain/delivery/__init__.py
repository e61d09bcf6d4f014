"""What a finished change is told as: the title and the text of its pull request."""

from __future__ import annotations
