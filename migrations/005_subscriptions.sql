-- Subscriptions issued while the gateway runs. Keys are there as SHA-256 digests only. Every change raises the feed's revision and leaves it on the
-- subscription's row, so that a process asks for what is newer than what it knows; a deleted one stays as a row without keys.

create table sallyport.subscription_feed (
  id       integer primary key,
  revision bigint not null                                  -- the row's lock orders the changes
);
insert into sallyport.subscription_feed (id, revision) values (1, 0);

create table sallyport.subscriptions (
  name       text collate "C" primary key,
  scope_kind text not null,                                 -- product, api, all
  scope_name text collate "C" not null default '',
  state      text not null,                                 -- submitted, active, suspended, rejected, cancelled; expired is told by expires_at
  owner      text collate "C" not null default '',
  note       text not null default '',
  expires_at timestamptz,
  revision   bigint not null,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  deleted_at timestamptz
);

create index subscriptions_by_revision on sallyport.subscriptions (revision);
create index subscriptions_by_scope on sallyport.subscriptions (scope_kind, scope_name, owner);

create table sallyport.subscription_keys (
  digest       text collate "C" primary key,                -- SHA-256, hex
  subscription text collate "C" not null references sallyport.subscriptions (name),
  slot         text not null,                               -- primary, secondary
  prefix       text collate "C" not null,                   -- the beginning of the key, to recognise it by
  created_at   timestamptz not null default now(),
  last_used_at timestamptz,                                 -- within a minute
  unique (subscription, slot)
);
