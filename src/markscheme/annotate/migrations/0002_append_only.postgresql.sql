CREATE FUNCTION markscheme_append_only() RETURNS trigger AS
'BEGIN RAISE EXCEPTION ''the audit trail is append-only''; END' LANGUAGE plpgsql;
CREATE TRIGGER events_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
FOR EACH STATEMENT EXECUTE FUNCTION markscheme_append_only();
