#!/bin/sh
# Makes `.env` and random passwords in `secrets/`. What exists already is kept, so it is safe to run again.
set -eu
cd "$(dirname "$0")"
[ -e .env ] || cp .env.example .env
# Containers read the files as other users, so the folder protects them, not their own modes.
mkdir -p secrets
chmod 700 secrets
umask 022
for name in control_token sallyport_database_password postgres_password redis_password app_key \
  keycloak_database_password keycloak_admin_password; do
  [ -s "secrets/$name" ] || openssl rand -hex 24 | tr -d '\n' >"secrets/$name"
done
printf 'redis://:%s@redis:6379' "$(cat secrets/redis_password)" >secrets/redis_url
