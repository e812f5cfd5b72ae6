#!/bin/sh
# Runs once, when the data folder is empty: a role and a database each for Sallyport and Keycloak.
set -eu
for name in sallyport keycloak; do
  password=$(cat "/run/secrets/${name}_database_password")
  [ -n "$password" ] || { echo "the password of $name is empty: set it in .env" >&2; exit 1; }
  psql --username postgres --set ON_ERROR_STOP=1 --set role="$name" --set password="$password" <<'SQL'
create role :"role" login password :'password';
create database :"role" owner :"role";
revoke connect on database :"role" from public;
SQL
done
