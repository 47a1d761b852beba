"""What do the standard `OTEL_*` variables say about our spans?"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from . import names

OTLP: Final = "otlp"
HTTP, GRPC = "http/protobuf", "grpc"
PORTS: Final = {HTTP: 4318, GRPC: 4317}
_log: Final = logging.getLogger(names.LOGGER)


@dataclass(frozen=True, slots=True)
class OtelEnv:
    """The setting of one process."""

    enabled: bool = True
    """False with OTEL_SDK_DISABLED=true or OTEL_TRACES_EXPORTER=none."""
    endpoint: str | None = None
    """Where spans go, as it was configured; None: nowhere yet."""
    exporter: str = OTLP
    """`otlp`, or the entry point of another exporter."""
    protocol: str = HTTP
    draft: bool = False
    """Also emit the names of the GenAI draft."""
    logs: bool = False
    """Also emit every event as a log record."""
    continues: bool = False
    """A resumed segment goes on in the trace of the one before, instead of a new trace with a link."""


def read_env(env: Mapping[str, str]) -> OtelEnv:
    """The setting in *env*. A value that cannot be used is named in one log line and left out."""
    kinds = [kind.strip() for kind in env.get("OTEL_TRACES_EXPORTER", "").split(",") if kind.strip()]
    disabled = env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or kinds == ["none"]
    exporter = next((kind for kind in kinds if kind.startswith(OTLP)), kinds[0] if kinds else OTLP)
    protocol = _protocol(env, exporter)
    endpoint = _first(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    if not endpoint and kinds:
        # Asked for by name: then the standard address holds, and another exporter needs none.
        endpoint = f"http://localhost:{PORTS[protocol]}" if exporter.startswith(OTLP) else exporter
    return OtelEnv(
        enabled=not disabled,
        endpoint=None if disabled else endpoint or None,
        exporter=exporter,
        protocol=protocol,
        draft=names.GENAI_DRAFT in env.get(names.SEMCONV_VARIABLE, "").replace(" ", "").split(","),
        logs=env.get(names.EVENTS_VARIABLE, "").strip().lower() == names.EVENTS_LOG,
        continues=env.get(names.RESUME_VARIABLE, "").strip().lower() == names.RESUME_CONTINUE,
    )


def _protocol(env: Mapping[str, str], exporter: str) -> str:
    if exporter in ("otlp_proto_grpc", "otlp_proto_http"):
        return GRPC if exporter == "otlp_proto_grpc" else HTTP
    asked = _first(env, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL").strip()
    if asked in ("", HTTP, GRPC):
        return asked or HTTP
    _log.warning("OTEL_EXPORTER_OTLP_PROTOCOL=%s is not spoken here; %s is used", asked, HTTP)
    return HTTP


def _first(env: Mapping[str, str], *variables: str) -> str:
    return next((env[name] for name in variables if env.get(name)), "")
