BEGIN TRANSACTION;
CREATE TABLE batched (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    request TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    valid_until DOUBLE PRECISION NOT NULL
);
CREATE TABLE failures (
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    reply TEXT NOT NULL,
    error TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE migrations (number BIGINT PRIMARY KEY);
INSERT INTO "migrations" VALUES(1);
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
INSERT INTO "replies" VALUES('2a8c4d7af87e4c395386fa1206813ef6','m','r','{"messages":[{"role":"user","content":"recorded"}],"max_tokens":512,"temperature":0.0,"logprobs":false,"sample":0}','{"status":"ok","text":"Yes","tokens_in":3,"tokens_out":1}','ok',3,1,NULL,1.79533660883893537519e+09);
CREATE INDEX replies_by_model ON replies (model, revision);
CREATE INDEX claims_by_owner ON claims (owner);
COMMIT;
