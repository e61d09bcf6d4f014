"""The only ways out of a sandbox: to a model's service with a key that the sandbox never sees, and to named hosts."""

from __future__ import annotations
