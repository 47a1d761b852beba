"""Case 34, thirty kinds of made-up secrets. Put together from halves, so that no scanner takes them for real ones."""

R36 = "FAKE0123456789abcdefghijABCDEFGHIJ99"
R24 = "FAKE0123456789abcdefghij"

KINDS: dict[str, str] = {
    "aws": "AKIA" + "FAKE0123456789AB",
    "github": "ghp_" + R36,
    "github fine": "github_pat_" + R36,
    "slack": "xoxb-" + "123456789012-" + R24,
    "openai": "sk-" + "FAKE0123456789abcdefghijABCDEFGH",
    "anthropic": "sk-ant-" + "api03-" + R36,
    "stripe": "sk_live_" + R24,
    "webhook": "whsec_" + R24,
    "google": "AIza" + "FAKE0123456789abcdefghijABCDEFGHIJ9",
    "google oauth": "GOCSPX-" + R24,
    "npm": "npm_" + R36,
    "docker": "dckr_pat_" + R24,
    "grafana": "glsa_" + "FAKE0123456789ab_" + "0a1b2c3d",
    "linear": "lin_api_" + R36,
    "telegram": "123456789:AA" + "FAKE0123456789abcdefghijABCDEFGHI"[:33],
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJGQUtFIn0." + "FAKEsignature0123456789abcdefgh",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIFAKE0123456789abcdef\n-----END RSA PRIVATE KEY-----",
}
"""Kinds that are known wherever they stand."""

NAMED: dict[str, str] = {
    "password": "hunter2-FAKE-1",
    "api_key": "FAKE-api-key-2",
    "client_secret": "FAKE-client-secret-3",
    "refresh_token": "FAKE-refresh-4",
    "authorization": "Basic RkFLRTpGQUtFLTU=",
    "cookie": "session=FAKE-cookie-6",
    "private_key": "FAKE-private-7",
    "access_token": "FAKE-access-8",
    "secret": "FAKE-secret-9",
    "passphrase": "FAKE-passphrase-10",
}
"""Kinds that only the name they stand under gives away."""

IN_TEXT: dict[str, str] = {
    "url": "postgres://app:FAKEhunter11@db/x",
    "bearer": "Authorization: Bearer FAKE0123456789abcdef.12",
    "assignment": "export TOKEN=FAKEtoken0123456789-13",
}
"""Kinds that the text around them gives away; only a part of each is secret."""
HIDDEN_PARTS = ["FAKEhunter11", "FAKE0123456789abcdef.12", "FAKEtoken0123456789-13"]
