"""One small answer, which OpenAPI shows as an example. FastAPI drops null from examples, so it has none."""

from typing import Any

ASKED: dict[str, Any] = {
    "id": "science-001",
    "question": "Which process turned the ice cube to water?",
    "answer": "melting",
    "options": ["freezing", "melting"],
    "gold": ["kindof-001", "means-001"],
}
GIVEN = {"uid": "kindof-001", "text": "an ice cube is a kind of block of frozen water", "given": True}
BEST = {"uid": "requires-001", "text": "turning ice into liquid water requires adding heat", "score": 16.41}
NEXT = {"uid": "means-001", "text": "melting means a solid turning into a liquid by taking in heat", "score": 15.2}
STEP = BEST | {
    "given": False,
    "confidence": 0.72,
    "seen_from": [{"source": "kindof-001", "words": ["ice", "water"], "light": ["turning"]}],
    "runners_up": [NEXT],
    "stop_score": 14.03,
}
EXPLAINED = ASKED | {
    "facts": [GIVEN, STEP],
    "confidence": 0.72,
    "stopped": True,
    "unsure": False,
    "next_confidence": 0.31,
    "stop_score": 15.43,
    "left_out": [NEXT],
    "ending": "stopped after 2 facts: stopping scores 15.43, the next fact scores 15.20",
    "average_precision": 0.75,
    "considered": 139,
    "scorings": 280,
    "seconds": 0.12,
}
