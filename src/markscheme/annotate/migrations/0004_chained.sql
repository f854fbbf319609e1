ALTER TABLE events ADD COLUMN digest TEXT;
CREATE TABLE trail (
    id INTEGER PRIMARY KEY,
    start INTEGER NOT NULL,
    last INTEGER NOT NULL,
    digest TEXT NOT NULL,
    signature TEXT NOT NULL
);
