-- What 0.2.0 adds to the schema of 0.1.0, by theme. Written by hand, as 0000_schema.sql.

-- Costs of single events.
ALTER TABLE events ADD COLUMN cache_read_tokens double precision, ADD COLUMN cache_write_tokens double precision;

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
  source text NOT NULL,
  listed_on date NOT NULL,
  CONSTRAINT list_prices_model_valid_from_pk PRIMARY KEY (model, valid_from)
);
