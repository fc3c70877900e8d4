#!/usr/bin/env bash
# Makes the secrets of compose.yaml in the folder `secrets` beside it, once. Keep a copy of them: without API_KEY_PEPPER no API key works.
set -euo pipefail
cd "$(dirname "$0")"
[ ! -e secrets ] || { echo "there are secrets already" >&2; exit 1; }
umask 077
mkdir secrets
random() { od -An -tx1 -N24 /dev/urandom | tr -d ' \n'; }
nats=$(random)
random >secrets/postgres_password
for role in owner ingest writer dashboard; do
  password=$(random)
  printf 'postgres://weir_%s:%s@postgres:5432/weir' "$role" "$password" >"secrets/${role}_database_url"
  printf "ALTER ROLE weir_%s PASSWORD '%s';\n" "$role" "$password" >>secrets/role_passwords
done
printf 'authorization { user: "weir", password: "%s" }\n' "$nats" >secrets/nats_auth
printf 'nats://weir:%s@nats:4222' "$nats" >secrets/nats_url
random >secrets/api_key_pepper
# Where Alertmanager sends alerts: put the address of your receiver into it.
printf 'http://127.0.0.1:9/nobody' >secrets/alert_webhook
# The containers run as other users: they read the files, others cannot enter the folder.
chmod 444 secrets/*
