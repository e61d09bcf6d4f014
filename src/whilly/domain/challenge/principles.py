"""The forty inventive principles of TRIZ, told for software; data."""

from __future__ import annotations

from typing import Final, NamedTuple


class Principle(NamedTuple):
    """One principle.

    Attributes:
        name: as in the literature.
        idea: what it comes to in software.
    """

    number: int
    name: str
    idea: str


_TOLD: Final = (
    ("Segmentation", "cut it into parts that can be changed, run and tested alone"),
    ("Taking out", "move the part that disturbs, or the only part that is needed, to a place of its own"),
    ("Local quality", "let each part have the properties that it needs, instead of one rule for all"),
    ("Asymmetry", "treat the frequent and the rare case, reading and writing, differently"),
    ("Merging", "do together what happens at the same time or place: batches, one pass, one transaction"),
    ("Universality", "let one part do several jobs, so that others can go"),
    ("Nested doll", "put one thing into another: layers, wrapped calls, recursion"),
    ("Anti-weight", "let something that is there already carry the load: the platform, the database, a library"),
    ("Preliminary anti-action", "undo the harm in advance: validate, snapshot, keep the way back open"),
    ("Preliminary action", "do it before it is needed: compute, generate, index, warm up"),
    ("Beforehand cushioning", "prepare for the failure: fallback, spare capacity, a timeout, a backup"),
    ("Equipotentiality", "save moving and converting: keep the form and the place that the user of it needs"),
    ("The other way round", "turn it about: push instead of pull, test first, data goes to the code"),
    ("Spheroidality", "replace a line by a cycle: ring buffers, rotation, round robin"),
    ("Dynamics", "let it adapt while it runs: limits, sizes, plans that follow the load"),
    (
        "Partial or excessive action",
        "do a little less, or more, when exactly right is dear: sample, overfetch",
    ),
    ("Another dimension", "add an axis: versions, tenants, time, a second index"),
    ("Mechanical vibration", "probe in small pulses: jitter, health checks, canaries"),
    ("Periodic action", "act at intervals instead of always: polls, ticks, scheduled work"),
    ("Continuity of useful action", "keep it busy without gaps: pipelines, streams, no barrier between batches"),
    ("Skipping", "pass quickly through what is dangerous: short critical sections, one atomic switch"),
    ("Blessing in disguise", "use the harm: turn failures into tests, noise into randomness, waiting into checking"),
    ("Feedback", "measure, and let the measure steer: metrics, back-pressure, acceptance checks"),
    ("Intermediary", "put something between: a queue, an adapter, a facade, a draft"),
    ("Self-service", "let it look after itself: migrations at start, healing, generated documents"),
    ("Copying", "work on a copy: replicas, snapshots, fakes, a dry run"),
    ("Cheap short-living objects", "make it disposable: containers, temporary work trees, throw-away prototypes"),
    ("Mechanics substitution", "use another mechanism: events for calls, types for checks, an index for a search"),
    ("Pneumatics and hydraulics", "use something that gives: buffers, elastic pools, soft limits"),
    ("Flexible shells and thin films", "isolate by a thin layer: a sandbox, a boundary that validates"),
    ("Porous materials", "leave openings: hooks, plugins, a place for what is not known yet"),
    ("Colour changes", "make it visible: labels, types, logs, states that can be told apart"),
    ("Homogeneity", "make the parts of one kind: one format, one language, one way to do it"),
    ("Discarding and recovering", "let go of what has done its work, and restore what wears out"),
    ("Parameter changes", "change a property instead of the structure: a setting, a format, a precision"),
    ("Phase transitions", "use the moment of change: do it at start, at the switch of versions, at the end of the day"),
    ("Thermal expansion", "let parts grow differently: scale reading and writing, code and data, on their own"),
    ("Strong oxidants", "make it more intense: stricter types, more tests, real data in tests"),
    ("Inert atmosphere", "take away what it could react with: purity, immutability, no network, no shared state"),
    ("Composite materials", "combine what is good at one thing each: cache and store, rules and a model"),
)

PRINCIPLES: Final = tuple(Principle(number, name, idea) for number, (name, idea) in enumerate(_TOLD, start=1))
"""In their order; the first one has the number 1."""


def get_principle(number: int) -> Principle:
    """The principle with this number.

    Raises:
        IndexError: it is not between 1 and 40.
    """
    if not 1 <= number <= len(PRINCIPLES):
        raise IndexError(number)
    return PRINCIPLES[number - 1]
