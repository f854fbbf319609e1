CREATE TABLE batch_jobs (
    job TEXT PRIMARY KEY,
    service_id TEXT,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    requests BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE batch_members (
    key TEXT PRIMARY KEY,
    job TEXT NOT NULL,
    sent TEXT NOT NULL
);
CREATE INDEX batch_members_by_job ON batch_members (job);
