#!/bin/sh
# Run by the image of Postgres, once, when it makes the database.
psql -v ON_ERROR_STOP=1 --username postgres --dbname weir -f /run/secrets/role_passwords
