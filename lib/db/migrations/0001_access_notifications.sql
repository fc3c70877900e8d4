-- What drizzle-kit cannot say: storage parameters, and the notifications that keep ingest's caches honest.

-- Segments are compressed already: TOAST must not try again.
ALTER TABLE segments ALTER COLUMN body SET STORAGE EXTERNAL;
--> statement-breakpoint
-- Counters are updated in place: room on the page keeps those updates out of the index (HOT).
ALTER TABLE usage_months SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE event_stats SET (fillfactor = 70);
--> statement-breakpoint
ALTER TABLE spaces ADD CONSTRAINT spaces_billing_state CHECK (billing_state IN ('active', 'inactive'));
--> statement-breakpoint
ALTER TABLE spaces ADD CONSTRAINT spaces_monthly_event_limit CHECK (monthly_event_limit >= 0);
--> statement-breakpoint
-- A trigger, not the application, so that a change made by any hand reaches every ingest process within a second.
CREATE FUNCTION notify_space_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir_access', 'space:' || COALESCE(NEW.id, OLD.id));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER spaces_changed AFTER UPDATE OR DELETE ON spaces
  FOR EACH ROW EXECUTE FUNCTION notify_space_changed();
--> statement-breakpoint
CREATE FUNCTION notify_api_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir_access', 'key:' || encode(COALESCE(NEW.hash, OLD.hash), 'hex'));
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER api_keys_added_or_removed AFTER INSERT OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_api_key_changed();
--> statement-breakpoint
-- Not on last_used_at: ingest itself writes it, and would wake every ingest for nothing.
CREATE TRIGGER api_keys_changed AFTER UPDATE OF revoked_at, expires_at, hash, space_id ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_api_key_changed();
