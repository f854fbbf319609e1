CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE people (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    active INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    first_rated INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    since_gold INTEGER NOT NULL,
    pace_seconds DOUBLE PRECISION,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    secret_hash TEXT NOT NULL,
    person_id INTEGER NOT NULL REFERENCES people (id),
    expires_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,
    question TEXT NOT NULL,
    texts TEXT NOT NULL,
    refs TEXT NOT NULL,
    context TEXT,
    gold DOUBLE PRECISION,
    stage TEXT NOT NULL,
    taken INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    third_id INTEGER REFERENCES people (id),
    final DOUBLE PRECISION
);
CREATE INDEX items_by_stage ON items (stage, place);
CREATE TABLE sources (
    item_id INTEGER NOT NULL REFERENCES items (id),
    text_place INTEGER NOT NULL,
    row_place INTEGER NOT NULL,
    answer_id TEXT NOT NULL,
    system TEXT,
    refs TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION,
    stratum TEXT
);
CREATE INDEX sources_by_item ON sources (item_id);
CREATE TABLE suggestions (
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    judge TEXT NOT NULL,
    value DOUBLE PRECISION,
    said TEXT NOT NULL,
    explanation TEXT
);
CREATE TABLE ratings (
    item_id INTEGER NOT NULL REFERENCES items (id),
    person_id INTEGER NOT NULL REFERENCES people (id),
    part TEXT NOT NULL,
    state TEXT NOT NULL,
    value DOUBLE PRECISION,
    ranks TEXT,
    value_before DOUBLE PRECISION,
    suggested INTEGER NOT NULL,
    note TEXT NOT NULL,
    version INTEGER NOT NULL,
    shown_at DOUBLE PRECISION NOT NULL,
    saved_at DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    PRIMARY KEY (item_id, person_id)
);
CREATE INDEX ratings_by_person ON ratings (person_id, state, shown_at);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL,
    person_id INTEGER REFERENCES people (id),
    item_id INTEGER REFERENCES items (id),
    action TEXT NOT NULL,
    submission TEXT,
    detail TEXT NOT NULL,
    UNIQUE (person_id, submission)
);
CREATE INDEX events_by_item ON events (item_id);
