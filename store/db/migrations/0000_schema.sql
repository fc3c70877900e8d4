-- The tables of lib/db/schema, by theme. drizzle-kit generated the snapshot in meta; this file is written by hand, because
-- drizzle-kit does not support partitions, storage parameters and triggers. lib/db/schema.test.ts compares the result with the
-- snapshot.

-- People, and how they sign in.

CREATE TABLE users (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  email text NOT NULL CONSTRAINT users_email_unique UNIQUE,
  password_hash text,
  created_at timestamptz NOT NULL DEFAULT now(),
  email_verified_at timestamptz,
  disabled_at timestamptz
);

CREATE TABLE identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL CONSTRAINT identities_user_id_users_id_fk REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT identities_issuer_subject_pk PRIMARY KEY (issuer, subject),
  CONSTRAINT identities_once_by_issuer UNIQUE (user_id, issuer)
);

CREATE TABLE sessions (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL CONSTRAINT sessions_user_id_users_id_fk REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7() CONSTRAINT sessions_id_unique UNIQUE,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  authenticated_at timestamptz NOT NULL DEFAULT now(),
  user_agent text,
  address text,
  space_id uuid
);
CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE sign_in_links (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL CONSTRAINT sign_in_links_user_id_users_id_fk REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
--> statement-breakpoint

-- Spaces, their API keys, usage and prices.

CREATE TABLE spaces (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  name text NOT NULL,
  monthly_event_limit bigint CONSTRAINT spaces_monthly_event_limit CHECK (monthly_event_limit >= 0),
  billing_state text NOT NULL DEFAULT 'active'
    CONSTRAINT spaces_billing_state CHECK (billing_state IN ('active', 'inactive')),
  created_at timestamptz NOT NULL DEFAULT now(),
  retention_days integer CONSTRAINT spaces_retention_days CHECK (retention_days BETWEEN 1 AND 36500),
  plan text
);

CREATE TABLE retention_clock (
  id integer PRIMARY KEY DEFAULT 1 CONSTRAINT retention_clock_one_row CHECK (id = 1),
  "time" timestamptz NOT NULL,
  passed_at timestamptz NOT NULL
);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  space_id uuid NOT NULL CONSTRAINT api_keys_space_id_spaces_id_fk REFERENCES spaces,
  name text NOT NULL,
  hash bytea NOT NULL CONSTRAINT api_keys_hash_unique UNIQUE,
  last_four text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_by text NOT NULL DEFAULT 'operator',
  replaces uuid CONSTRAINT api_keys_replaces_unique UNIQUE
);

-- Counters are updated in place. Free space in each page lets these updates leave the indexes unchanged (HOT).
CREATE TABLE usage_months (
  space_id uuid NOT NULL,
  month text NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT usage_months_space_id_month_pk PRIMARY KEY (space_id, month)
) WITH (fillfactor = 50);

CREATE TABLE usage_days (
  space_id uuid NOT NULL,
  day date NOT NULL,
  api_key_id uuid NOT NULL,
  events bigint NOT NULL,
  repeats bigint NOT NULL,
  CONSTRAINT usage_days_space_id_day_api_key_id_pk PRIMARY KEY (space_id, day, api_key_id)
) WITH (fillfactor = 50);

CREATE TABLE model_prices (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  space_id uuid CONSTRAINT model_prices_space_id_spaces_id_fk REFERENCES spaces ON DELETE CASCADE,
  model text NOT NULL,
  valid_from date NOT NULL,
  input numeric NOT NULL,
  output numeric NOT NULL,
  cache_read numeric,
  cache_write numeric,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT model_prices_of_day UNIQUE NULLS NOT DISTINCT (space_id, model, valid_from)
);
--> statement-breakpoint

-- Members of spaces, invitations, and the audit log.

CREATE TABLE memberships (
  space_id uuid NOT NULL CONSTRAINT memberships_space_id_spaces_id_fk REFERENCES spaces ON DELETE CASCADE,
  user_id uuid NOT NULL CONSTRAINT memberships_user_id_users_id_fk REFERENCES users ON DELETE CASCADE,
  role text NOT NULL,
  CONSTRAINT memberships_space_id_user_id_pk PRIMARY KEY (space_id, user_id)
);

CREATE TABLE invitations (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  space_id uuid NOT NULL CONSTRAINT invitations_space_id_spaces_id_fk REFERENCES spaces ON DELETE CASCADE,
  token_hash bytea NOT NULL CONSTRAINT invitations_token_hash_unique UNIQUE,
  email text NOT NULL,
  role text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX invitations_by_space ON invitations (space_id, id);
CREATE INDEX invitations_by_email ON invitations (email);
CREATE UNIQUE INDEX invitations_one_open ON invitations (space_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;

CREATE TABLE audit_log (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  actor text NOT NULL,
  action text NOT NULL,
  details jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  target text,
  address text,
  CONSTRAINT audit_log_space_id_id_pk PRIMARY KEY (space_id, id)
);
--> statement-breakpoint

-- Events: the ledger of ids, and rows and request bodies, partitioned by week of receipt (ADR 16). lib/db/partitions.ts creates the weeks.

CREATE TABLE event_ids (
  space_id uuid NOT NULL,
  id uuid NOT NULL,
  CONSTRAINT event_ids_space_id_id_pk PRIMARY KEY (space_id, id)
);

CREATE TABLE events (
  space_id uuid NOT NULL,
  id uuid NOT NULL,
  segment_id uuid NOT NULL,
  trace_id uuid,
  received_at timestamptz NOT NULL,
  start_time_ms double precision NOT NULL,
  end_time_ms double precision NOT NULL,
  duration_ms double precision NOT NULL,
  input_tokens double precision,
  output_tokens double precision,
  total_tokens double precision,
  segment_index integer NOT NULL,
  type text NOT NULL,
  state text NOT NULL,
  name text,
  source text NOT NULL,
  thread_id text,
  agent_id text,
  agent_group_id text,
  user_id text,
  error_code text,
  error_http_status text,
  error_message text,
  input_preview text,
  output_preview text,
  attributes json
) PARTITION BY RANGE (segment_id);
CREATE INDEX events_by_start_time ON events (space_id, start_time_ms DESC NULLS LAST);
CREATE INDEX events_by_segment ON events (segment_id);
CREATE INDEX events_by_id ON events USING hash (id);
CREATE TABLE events_default PARTITION OF events DEFAULT;

CREATE TABLE segments (
  space_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  received_at timestamptz NOT NULL,
  event_count integer NOT NULL,
  raw_bytes integer NOT NULL,
  -- Bodies are already compressed, so TOAST must not compress them again.
  body bytea STORAGE EXTERNAL NOT NULL,
  min_start_ms double precision NOT NULL,
  max_start_ms double precision NOT NULL,
  terms bigint[] NOT NULL,
  projection smallint NOT NULL,
  queue_stream text,
  queue_sequence bigint,
  CONSTRAINT segments_space_id_id_pk PRIMARY KEY (space_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX segments_by_term ON segments USING gin (terms) WITH (gin_pending_list_limit = 256);
CREATE INDEX segments_by_start_time ON segments (space_id, max_start_ms);
CREATE TABLE segments_default PARTITION OF segments DEFAULT;

-- The commits of each space, numbered in the order of COMMIT (ADR 20). The counter is updated in place.
CREATE TABLE commit_counters (
  space_id uuid NOT NULL,
  last_number bigint NOT NULL,
  CONSTRAINT commit_counters_space_id_pk PRIMARY KEY (space_id)
) WITH (fillfactor = 50);

CREATE TABLE space_commits (
  space_id uuid NOT NULL,
  number bigint NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT now(),
  event_count integer NOT NULL,
  segment_ids uuid[] NOT NULL,
  CONSTRAINT space_commits_space_id_number_pk PRIMARY KEY (space_id, number)
);
CREATE INDEX space_commits_by_time ON space_commits USING brin (stored_at);
--> statement-breakpoint

-- Statistics for charts: sums by minute, and by hours (ADR 21). Updated in place, like the counters of usage.

CREATE TABLE event_stats (
  space_id uuid NOT NULL,
  minute bigint NOT NULL,
  type text NOT NULL,
  name text NOT NULL,
  source text NOT NULL,
  events bigint NOT NULL,
  duration_ms double precision NOT NULL,
  errors bigint,
  input_tokens double precision,
  output_tokens double precision,
  total_tokens double precision,
  cache_read_tokens double precision,
  cache_write_tokens double precision,
  reasoning_tokens double precision,
  latency bigint[] NOT NULL,
  CONSTRAINT event_stats_space_id_minute_type_name_source_pk PRIMARY KEY (space_id, minute, type, name, source)
) WITH (fillfactor = 70);

CREATE TABLE agent_stats (
  space_id uuid NOT NULL,
  minute bigint NOT NULL,
  agent_id text NOT NULL,
  events bigint NOT NULL,
  duration_ms double precision NOT NULL,
  errors bigint,
  input_tokens double precision,
  output_tokens double precision,
  total_tokens double precision,
  cache_read_tokens double precision,
  cache_write_tokens double precision,
  reasoning_tokens double precision,
  latency bigint[] NOT NULL,
  CONSTRAINT agent_stats_space_id_minute_agent_id_pk PRIMARY KEY (space_id, minute, agent_id)
) WITH (fillfactor = 70);

CREATE TABLE event_stats_rollups (
  space_id uuid NOT NULL,
  span_hours integer NOT NULL,
  start_hour bigint NOT NULL,
  type text NOT NULL,
  name text NOT NULL,
  source text NOT NULL,
  events bigint NOT NULL,
  duration_ms double precision NOT NULL,
  errors bigint,
  input_tokens double precision,
  output_tokens double precision,
  total_tokens double precision,
  cache_read_tokens double precision,
  cache_write_tokens double precision,
  reasoning_tokens double precision,
  latency bigint[] NOT NULL,
  CONSTRAINT event_stats_rollups_pk PRIMARY KEY (space_id, span_hours, start_hour, type, name, source)
) WITH (fillfactor = 50);

CREATE TABLE agent_stats_rollups (
  space_id uuid NOT NULL,
  span_hours integer NOT NULL,
  start_hour bigint NOT NULL,
  agent_id text NOT NULL,
  events bigint NOT NULL,
  duration_ms double precision NOT NULL,
  errors bigint,
  input_tokens double precision,
  output_tokens double precision,
  total_tokens double precision,
  cache_read_tokens double precision,
  cache_write_tokens double precision,
  reasoning_tokens double precision,
  latency bigint[] NOT NULL,
  CONSTRAINT agent_stats_rollups_pk PRIMARY KEY (space_id, span_hours, start_hour, agent_id)
) WITH (fillfactor = 50);
--> statement-breakpoint

-- Events that Postgres rejected, and erasures.

CREATE TABLE quarantine (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  received_at timestamptz NOT NULL,
  quarantined_at timestamptz NOT NULL DEFAULT now(),
  event_count integer NOT NULL,
  sqlstate text NOT NULL,
  message text NOT NULL,
  part bytea NOT NULL,
  CONSTRAINT quarantine_space_id_id_pk PRIMARY KEY (space_id, id)
);

CREATE TABLE erasures (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  subject text NOT NULL,
  term bigint,
  before_ms double precision,
  reason text,
  started_at timestamptz NOT NULL,
  events bigint NOT NULL DEFAULT 0,
  segments_rewritten bigint NOT NULL DEFAULT 0,
  segments_deleted bigint NOT NULL DEFAULT 0,
  quarantine_events bigint NOT NULL DEFAULT 0,
  quarantine_rewritten bigint NOT NULL DEFAULT 0,
  quarantine_deleted bigint NOT NULL DEFAULT 0,
  unwritten text[] NOT NULL,
  completed_at timestamptz,
  CONSTRAINT erasures_space_id_id_pk PRIMARY KEY (space_id, id)
);
--> statement-breakpoint

-- Notifications that keep the caches of ingest current. They are sent by triggers, so that a change of a row by any program
-- reaches every ingest process within a second.

CREATE FUNCTION notify_space_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir_access', 'space:' || COALESCE(NEW.id, OLD.id));
  RETURN NULL;
END $$;

CREATE TRIGGER spaces_changed AFTER UPDATE OR DELETE ON spaces
  FOR EACH ROW EXECUTE FUNCTION notify_space_changed();

CREATE FUNCTION notify_api_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('weir_access', 'key:' || encode(COALESCE(NEW.hash, OLD.hash), 'hex'));
  RETURN NULL;
END $$;

CREATE TRIGGER api_keys_added_or_removed AFTER INSERT OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_api_key_changed();

-- last_used_at is excluded: ingest updates it, and each update would notify every ingest process.
CREATE TRIGGER api_keys_changed AFTER UPDATE OF revoked_at, expires_at, hash, space_id ON api_keys
  FOR EACH ROW EXECUTE FUNCTION notify_api_key_changed();
