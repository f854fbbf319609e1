BEGIN TRANSACTION;
CREATE TABLE annotate_migrations (number INTEGER PRIMARY KEY);
INSERT INTO "annotate_migrations" VALUES(1);
INSERT INTO "annotate_migrations" VALUES(2);
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
INSERT INTO "events" VALUES(1,1.79533660903175687787e+09,NULL,NULL,'person added',NULL,'{"person":1,"name":"admin","role":"admin"}');
INSERT INTO "events" VALUES(2,1.79533660903359317774e+09,NULL,NULL,'person added',NULL,'{"person":2,"name":"ann","role":"annotator"}');
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
INSERT INTO "items" VALUES(1,0,'Question 0?','["answer 0"]','["right 0"]',NULL,NULL,'open',0,0,NULL,NULL);
INSERT INTO "items" VALUES(2,1,'Question 1?','["answer 1"]','["right 1"]',NULL,NULL,'open',0,0,NULL,NULL);
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
INSERT INTO "people" VALUES(1,'admin','admin','0000000000000000000000000000000000000000000000000000000000000000',1,0,0,0,0,NULL,1.79533660902603340149e+09);
INSERT INTO "people" VALUES(2,'ann','annotator','1111111111111111111111111111111111111111111111111111111111111111',1,0,0,0,0,NULL,1.7953366090332269669e+09);
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
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    secret_hash TEXT NOT NULL,
    person_id INTEGER NOT NULL REFERENCES people (id),
    expires_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO "settings" VALUES('title','"Labels for a.jsonl"');
INSERT INTO "settings" VALUES('scale','"verdict"');
INSERT INTO "settings" VALUES('references','"on-request"');
INSERT INTO "settings" VALUES('per_item','2');
INSERT INTO "settings" VALUES('adjudicate','true');
INSERT INTO "settings" VALUES('order','"shuffled"');
INSERT INTO "settings" VALUES('gold_every','10');
INSERT INTO "settings" VALUES('seed','0');
INSERT INTO "settings" VALUES('guidelines','"# What to decide\nSay whether the answer is a correct answer to the question. Judge what it says, not how it says it.\n\n# Correct\n- It gives the fact asked for, in whatever words: another name of the same person or place, another spelling, another unit or form of the same date or number.\n- It says more than was asked, as long as nothing it adds makes the answer to the question wrong.\n- It is a full sentence or a paragraph in which the right answer is what it commits to.\n- The references lack it, yet it is true. References are often incomplete; a quick search may show that another answer is right too.\n\n# Not correct\n- It names something else, or several things of which the reader cannot tell which one is meant as the answer.\n- It mentions the right answer only to deny it or to leave it open.\n- The question asks for several things, or for all of a list, and a needed part is missing.\n- It is coarser than the question asks for: a year where the day was asked, a country where the town was asked.\n- It repeats the question, refuses, or says that it does not know.\n\n# Hard cases\n- Questions about \"now\" or \"the latest\" are judged by the time the references speak of; any answer that was right then is right.\n- A question that can be read in two ways: an answer right under a sensible reading is correct.\n- A reference that is plainly wrong does not bind you. Judge by the facts and leave a note.\n- You may use a search engine. You should not ask a chatbot.\n- If a careful look does not settle it, choose \"cannot tell\"."');
INSERT INTO "settings" VALUES('items','2');
INSERT INTO "settings" VALUES('gold','0');
INSERT INTO "settings" VALUES('source','"answers.jsonl"');
INSERT INTO "settings" VALUES('digest','"5b7f764f8299eeefeaae57a2cd305ad4"');
INSERT INTO "settings" VALUES('uid','"74c3061be331533c"');
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
INSERT INTO "sources" VALUES(1,0,0,'q0','s','["right 0"]',NULL,NULL);
INSERT INTO "sources" VALUES(2,0,1,'q1','s','["right 1"]',NULL,NULL);
CREATE TABLE suggestions (
    item_id INTEGER PRIMARY KEY REFERENCES items (id),
    judge TEXT NOT NULL,
    value DOUBLE PRECISION,
    said TEXT NOT NULL,
    explanation TEXT
);
CREATE INDEX items_by_stage ON items (stage, place);
CREATE INDEX sources_by_item ON sources (item_id);
CREATE INDEX ratings_by_person ON ratings (person_id, state, shown_at);
CREATE INDEX events_by_item ON events (item_id);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
COMMIT;
