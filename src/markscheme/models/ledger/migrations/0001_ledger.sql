CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    request TEXT NOT NULL,
    reply TEXT NOT NULL,
    status TEXT NOT NULL,
    tokens_in BIGINT,
    tokens_out BIGINT,
    cost_usd DOUBLE PRECISION,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE INDEX replies_by_model ON replies (model, revision);
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    valid_until DOUBLE PRECISION NOT NULL
);
CREATE INDEX claims_by_owner ON claims (owner);
CREATE TABLE failures (
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    reply TEXT NOT NULL,
    error TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE batched (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    request TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
