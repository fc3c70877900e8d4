-- What 0.2.0 adds to the schema of 0.1.0, by theme. Written by hand, as 0000_schema.sql.

-- Costs of single events.
ALTER TABLE events ADD COLUMN cache_read_tokens double precision, ADD COLUMN cache_write_tokens double precision,
  ADD COLUMN reasoning_tokens double precision, ADD COLUMN usage_parts json, ADD COLUMN price_class text,
  ADD COLUMN reported_cost numeric;
ALTER TABLE model_prices ADD COLUMN rates jsonb NOT NULL DEFAULT '{}';

-- Read keys: API keys that read through the dashboard API. An ingest of 0.1.0 rejects them by their shape.
ALTER TABLE api_keys ADD COLUMN scope text NOT NULL DEFAULT 'ingest';

-- Prices: the list prices of the known providers' models.
CREATE TABLE list_prices (
  model text NOT NULL,
  valid_from date NOT NULL,
  input numeric NOT NULL,
  output numeric NOT NULL,
  cache_read numeric,
  cache_write numeric,
  rates jsonb NOT NULL DEFAULT '{}',
  source text NOT NULL,
  listed_on date NOT NULL,
  CONSTRAINT list_prices_model_valid_from_pk PRIMARY KEY (model, valid_from)
);

-- Backups (ADR 33).

CREATE TABLE backups (
  label text PRIMARY KEY,
  location text NOT NULL,
  stopped_at timestamptz NOT NULL,
  verified_at timestamptz,
  bytes bigint
);

-- Spans of traces (ADR 27).

CREATE TABLE trace_nodes (
  space_id uuid NOT NULL,
  trace_id uuid NOT NULL,
  span_id text NOT NULL,
  parent_span_id text,
  kind text NOT NULL,
  name text,
  state text NOT NULL,
  start_time_ms double precision NOT NULL,
  end_time_ms double precision NOT NULL,
  agent_id text,
  thread_id text,
  user_id text,
  event_id uuid,
  merged_event_id uuid,
  removed_event_id uuid,
  scope text,
  response_key uuid,
  usage_key uuid,
  request_key uuid,
  received_at timestamptz NOT NULL,
  CONSTRAINT trace_nodes_space_id_trace_id_span_id_pk PRIMARY KEY (space_id, trace_id, span_id)
);
CREATE INDEX trace_nodes_by_time ON trace_nodes USING brin (received_at);
CREATE INDEX trace_nodes_by_response ON trace_nodes (space_id, response_key, start_time_ms) WHERE response_key IS NOT NULL;
CREATE INDEX trace_nodes_by_merged ON trace_nodes (space_id, merged_event_id) WHERE removed_event_id IS NOT NULL;

CREATE TABLE traces (
  space_id uuid NOT NULL,
  trace_id uuid NOT NULL,
  version bigint NOT NULL,
  unresolved_since timestamptz,
  spans bigint NOT NULL,
  has_calls boolean NOT NULL,
  received_at timestamptz NOT NULL,
  CONSTRAINT traces_space_id_trace_id_pk PRIMARY KEY (space_id, trace_id)
) WITH (fillfactor = 70);

CREATE INDEX traces_by_time ON traces USING brin (received_at);
CREATE INDEX traces_unresolved ON traces (space_id, unresolved_since) WHERE unresolved_since IS NOT NULL;
CREATE INDEX traces_large ON traces (space_id) WHERE spans > 10000;
CREATE INDEX traces_without_calls ON traces (received_at) WHERE NOT has_calls;

-- Changes of stored events by later spans, for live streams.

ALTER TABLE commit_counters ADD COLUMN last_change bigint NOT NULL DEFAULT 0;

CREATE TABLE event_changes (
  space_id uuid NOT NULL,
  number bigint NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  event_ids uuid[] NOT NULL,
  CONSTRAINT event_changes_space_id_number_pk PRIMARY KEY (space_id, number)
);
CREATE INDEX event_changes_by_time ON event_changes USING brin (changed_at);

-- Erasures that are requested in the dashboard, and receipts.

ALTER TABLE erasures ADD COLUMN receipt jsonb, ADD COLUMN requested_by text;

CREATE TABLE erasure_requests (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  subject text NOT NULL,
  value text,
  term bigint,
  before_ms double precision,
  reason text,
  requested_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  expected_events bigint,
  progress text,
  failure text,
  attempt_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT erasure_requests_space_id_id_pk PRIMARY KEY (space_id, id)
);

-- ANALYZE must not keep samples of users in pg_statistic.
ALTER TABLE erasure_requests ALTER COLUMN value SET STATISTICS 0;

-- Second factors of people.

CREATE TABLE totp_secrets (
  user_id uuid PRIMARY KEY CONSTRAINT totp_secrets_user_id_users_id_fk REFERENCES users ON DELETE CASCADE,
  secret bytea NOT NULL,
  last_step bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE passkeys (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  user_id uuid NOT NULL CONSTRAINT passkeys_user_id_users_id_fk REFERENCES users ON DELETE CASCADE,
  credential_id bytea NOT NULL CONSTRAINT passkeys_credential_id_unique UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_by_user ON passkeys (user_id);

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL CONSTRAINT recovery_codes_user_id_users_id_fk REFERENCES users ON DELETE CASCADE,
  code_hash bytea NOT NULL,
  CONSTRAINT recovery_codes_user_id_code_hash_pk PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE used_challenges (
  challenge bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

-- Senders of spans (ADR 28).

CREATE TABLE senders (
  space_id uuid NOT NULL,
  service text NOT NULL,
  scope text NOT NULL,
  version text NOT NULL,
  sdk text NOT NULL,
  stored bigint NOT NULL,
  merged bigint NOT NULL,
  left_out bigint NOT NULL,
  refused bigint NOT NULL,
  refusal text,
  last_seen_at timestamptz NOT NULL,
  CONSTRAINT senders_space_id_service_scope_version_pk PRIMARY KEY (space_id, service, scope, version)
) WITH (fillfactor = 70);

-- Alerts.

CREATE TABLE alert_targets (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  name text NOT NULL,
  kind text NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT alert_targets_space_id_id_pk PRIMARY KEY (space_id, id),
  CONSTRAINT alert_targets_space_id_spaces_id_fk FOREIGN KEY (space_id) REFERENCES spaces (id) ON DELETE CASCADE
);

CREATE TABLE alert_rules (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  name text NOT NULL,
  kind text NOT NULL,
  filter jsonb NOT NULL,
  comparison text NOT NULL,
  bound double precision NOT NULL,
  window_minutes integer NOT NULL,
  hold_minutes integer NOT NULL,
  target_ids uuid[] NOT NULL,
  muted_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  phase text NOT NULL DEFAULT 'ok',
  since timestamptz NOT NULL DEFAULT now(),
  value double precision,
  evaluated_until timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  claimed_until timestamptz,
  version integer NOT NULL DEFAULT 1,
  CONSTRAINT alert_rules_space_id_id_pk PRIMARY KEY (space_id, id),
  CONSTRAINT alert_rules_space_id_spaces_id_fk FOREIGN KEY (space_id) REFERENCES spaces (id) ON DELETE CASCADE
);

CREATE TABLE alert_events (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  rule_id uuid,
  change text NOT NULL,
  at timestamptz NOT NULL,
  message jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT alert_events_space_id_id_pk PRIMARY KEY (space_id, id),
  CONSTRAINT alert_events_space_id_spaces_id_fk FOREIGN KEY (space_id) REFERENCES spaces (id) ON DELETE CASCADE
);

CREATE TABLE alert_deliveries (
  space_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  event_id uuid NOT NULL,
  target_id uuid NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  attempt_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz,
  failed_at timestamptz,
  failure text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT alert_deliveries_space_id_id_pk PRIMARY KEY (space_id, id),
  CONSTRAINT alert_deliveries_space_id_spaces_id_fk FOREIGN KEY (space_id) REFERENCES spaces (id) ON DELETE CASCADE
);
CREATE INDEX alert_deliveries_open ON alert_deliveries (attempt_at) WHERE delivered_at IS NULL AND failed_at IS NULL;

-- Times from the receipt of events until they are stored (ADR 36).

ALTER TABLE space_commits ADD COLUMN delays bigint[];

CREATE TABLE store_delays (
  space_id uuid NOT NULL,
  span_minutes integer NOT NULL,
  start_minute bigint NOT NULL,
  events bigint NOT NULL,
  delays bigint[] NOT NULL,
  CONSTRAINT store_delays_space_id_span_minutes_start_minute_pk PRIMARY KEY (space_id, span_minutes, start_minute)
) WITH (fillfactor = 70);

CREATE TABLE store_delay_positions (
  space_id uuid NOT NULL,
  number bigint NOT NULL,
  previous bigint NOT NULL,
  CONSTRAINT store_delay_positions_space_id_pk PRIMARY KEY (space_id)
) WITH (fillfactor = 70);

-- The operator of the installation in the dashboard (ADR 36).

ALTER TABLE users ADD COLUMN operator_since timestamptz;

-- How far the queue was stored: where a replay begins after a restore (ADR 31).
CREATE TABLE queue_positions (
  stream text PRIMARY KEY,
  created_at timestamptz NOT NULL,
  stored_up_to bigint NOT NULL,
  window_ms bigint NOT NULL,
  replay_up_to bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL
);

-- How many events were stored from ranges of messages (ADR 39).
CREATE TABLE queue_counts (
  stream text NOT NULL,
  created_at timestamptz NOT NULL,
  after_sequence bigint NOT NULL,
  stored_up_to bigint NOT NULL,
  last_sequence bigint NOT NULL,
  events bigint,
  counted_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT queue_counts_stream_created_at_after_sequence_pk PRIMARY KEY (stream, created_at, after_sequence)
);

-- Changes of administrative tables on their way to the control stream (ADR 32). `weir migrate` adds the triggers (lib/control/triggers.ts).

CREATE TABLE control_changes (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  table_name text NOT NULL,
  operation text NOT NULL,
  image jsonb NOT NULL
);

-- SECURITY DEFINER: a role that may change a row of these tables needs no right on the log, and cannot change a row without an entry in it.
-- The arguments of a trigger are the columns of the primary key, the columns whose changes are not logged, and those that are left out.
CREATE FUNCTION log_control_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  before jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  after jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) - string_to_array(TG_ARGV[2], ',') END;
  before_key jsonb;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    SELECT jsonb_object_agg(name, before -> name) INTO before_key FROM unnest(string_to_array(TG_ARGV[0], ',')) AS name;
  END IF;
  IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE' AND NOT after @> before_key) THEN
    INSERT INTO control_changes (table_name, operation, image) VALUES (TG_TABLE_NAME, 'delete', before_key);
  END IF;
  IF TG_OP = 'INSERT' OR before - string_to_array(TG_ARGV[1], ',') <> after - string_to_array(TG_ARGV[1], ',') THEN
    INSERT INTO control_changes (table_name, operation, image) VALUES (TG_TABLE_NAME, 'upsert', after);
  END IF;
  RETURN NULL;
END $$;

-- Deletion of spaces (ADR 30).

ALTER TABLE spaces ADD COLUMN delete_at timestamptz;

CREATE TABLE deleted_spaces (
  space_id uuid PRIMARY KEY,
  name text NOT NULL,
  requested_at timestamptz NOT NULL,
  requested_by text NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT now()
);

-- Sums of stored events before they are folded into the statistics (ADR 40).

CREATE TABLE statistic_deltas (
  space_id uuid NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY (CACHE 500) NOT NULL,
  minute bigint NOT NULL,
  type text NOT NULL,
  name text NOT NULL,
  source text NOT NULL,
  agent_id text,
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
  dimension_values text[],
  is_of_dimensions boolean NOT NULL DEFAULT false,
  price_class text,
  usage_units double precision,
  reported_cost numeric,
  CONSTRAINT statistic_deltas_space_id_number_pk PRIMARY KEY (space_id, number)
);

-- Statistics of slices: of calls with prices of their own, by minute and by hours (ADR 44).

CREATE TABLE slice_stats (
  space_id uuid NOT NULL,
  minute bigint NOT NULL,
  dimension smallint NOT NULL,
  value text NOT NULL,
  type text NOT NULL,
  name text NOT NULL,
  source text NOT NULL,
  price_class text NOT NULL,
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
  usage_units double precision,
  reported_cost numeric,
  CONSTRAINT slice_stats_pk PRIMARY KEY (space_id, dimension, minute, value, type, name, source, price_class)
) WITH (fillfactor = 70);

CREATE TABLE slice_stats_rollups (
  space_id uuid NOT NULL,
  span_hours integer NOT NULL,
  start_hour bigint NOT NULL,
  dimension smallint NOT NULL,
  value text NOT NULL,
  type text NOT NULL,
  name text NOT NULL,
  source text NOT NULL,
  price_class text NOT NULL,
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
  usage_units double precision,
  reported_cost numeric,
  CONSTRAINT slice_stats_rollups_pk PRIMARY KEY (space_id, dimension, span_hours, start_hour, value, type, name, source, price_class)
) WITH (fillfactor = 50);

-- What statistics of a space are kept by, and the values with statistics of their own (ADR 45).

ALTER TABLE spaces ADD COLUMN dimensions text[] NOT NULL DEFAULT '{}';

ALTER TABLE segments ADD COLUMN dimensions smallint;

CREATE TABLE dimensions (
  space_id uuid NOT NULL,
  number smallint NOT NULL,
  name text NOT NULL,
  declared_at timestamptz NOT NULL,
  cursor uuid,
  counted_at timestamptz,
  removed_at timestamptz,
  CONSTRAINT dimensions_space_id_number_pk PRIMARY KEY (space_id, number)
);

CREATE TABLE dimension_values (
  space_id uuid NOT NULL,
  number smallint NOT NULL,
  value text NOT NULL,
  CONSTRAINT dimension_values_space_id_number_value_pk PRIMARY KEY (space_id, number, value)
);

-- Notes on events, threads and traces (ADR 46).

CREATE TABLE notes (
  space_id uuid NOT NULL,
  id uuid NOT NULL,
  target text NOT NULL,
  target_id text NOT NULL,
  label text,
  value text,
  value_type text,
  score double precision,
  text text,
  author text NOT NULL,
  author_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  changed_at timestamptz,
  trace_id uuid,
  span_id text,
  CONSTRAINT notes_space_id_id_pk PRIMARY KEY (space_id, id)
);
CREATE INDEX notes_by_target ON notes (space_id, target_id, target);
CREATE INDEX notes_by_label ON notes (space_id, label);
CREATE INDEX notes_by_trace ON notes (space_id, trace_id) WHERE trace_id IS NOT NULL;

ALTER TABLE erasures ADD COLUMN notes bigint NOT NULL DEFAULT 0;

-- Saved views of lists.

CREATE TABLE views (
  space_id uuid NOT NULL CONSTRAINT views_space_id_spaces_id_fk REFERENCES spaces ON DELETE CASCADE,
  id uuid NOT NULL,
  user_id uuid,
  list text NOT NULL,
  name text NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz,
  CONSTRAINT views_space_id_id_pk PRIMARY KEY (space_id, id),
  CONSTRAINT views_by_name UNIQUE NULLS NOT DISTINCT (space_id, user_id, list, name),
  CONSTRAINT views_of_member FOREIGN KEY (space_id, user_id) REFERENCES memberships (space_id, user_id)
    ON DELETE CASCADE
);

-- Images, sounds and files that are uploaded apart from spans (ADR 48).

CREATE TABLE media (
  space_id uuid NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  data bytea STORAGE EXTERNAL NOT NULL,
  received_at timestamptz NOT NULL,
  CONSTRAINT media_space_id_id_pk PRIMARY KEY (space_id, id)
);

CREATE TABLE media_uses (
  space_id uuid NOT NULL,
  id uuid NOT NULL,
  media_id text NOT NULL,
  trace_id uuid NOT NULL,
  event_id uuid,
  received_at timestamptz NOT NULL,
  CONSTRAINT media_uses_space_id_id_pk PRIMARY KEY (space_id, id)
);
CREATE INDEX media_uses_by_media ON media_uses (space_id, media_id);
CREATE INDEX media_uses_by_trace ON media_uses (space_id, trace_id);
CREATE INDEX media_uses_by_event ON media_uses (space_id, event_id);
CREATE INDEX media_uses_by_time ON media_uses USING brin (received_at);

ALTER TABLE erasures ADD COLUMN media bigint NOT NULL DEFAULT 0;
