-- The Postgres roles of Weir, none of them a superuser (docs/cluster.md). Run by a superuser, connected to Weir's database, before the first
-- `weir migrate`, which grants weir_ingest and weir_dashboard their rights on tables (grants.ts). Running it again is safe. Passwords are set
-- separately.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['weir_owner', 'weir_ingest', 'weir_writer', 'weir_dashboard'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
      EXECUTE format('CREATE ROLE %I', role_name);
    END IF;
    EXECUTE format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', role_name);
  END LOOP;
  -- The owner of the database may create tables in its schema public.
  EXECUTE format('ALTER DATABASE %I OWNER TO weir_owner', current_database());
END $$;

-- pg_read_all_stats: an erasure must see the snapshots of all sessions before it rewrites a file.
-- pg_signal_backend: the writer's sessions run as weir_owner, and end themselves when they became read-only.
GRANT pg_read_all_stats, pg_signal_backend TO weir_owner;

-- The writer creates, rewrites, analyzes and drops partitions, which only their owner may do. Its sessions act as the owner, so that what they
-- create belongs to the owner, too.
GRANT weir_owner TO weir_writer;
ALTER ROLE weir_writer SET role = 'weir_owner';
