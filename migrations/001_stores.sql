-- Stores, their models, tuples and change feed. Names are compared byte by byte (collate "C"), so that order and equality are the same on every
-- server and a prefix is a range. Conditions and contexts are text: canonical JSON, read by the engine and never by SQL.

create table sallyport.stores (
  id            text collate "C" primary key,               -- ULID
  name          text not null,
  declared_name text collate "C" unique,                    -- name in gateway.conf; kept when the plan drops the store, so that it finds its data again
  managed       boolean not null default false,             -- the running plan declares it
  model_id      text collate "C",                           -- the model the running plan gives it; null: the newest
  revision      bigint not null default 0,                  -- raised by one by every write; the row's lock orders the writes
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  deleted_at    timestamptz
);

create table sallyport.models (
  store_id       text collate "C" not null references sallyport.stores (id),
  id             text collate "C" not null,                 -- ULID, greater than those of the store's older models
  digest         text collate "C",                          -- set for models of plans: applied again, the same model keeps its id
  schema_version text not null,
  model          text not null,                             -- OpenFGA's JSON, without the id
  created_at     timestamptz not null default now(),
  primary key (store_id, id),
  unique (store_id, digest)
);

-- One row per tuple. subject is type:id or type:*, subject_relation '' when there is none.
create table sallyport.tuples (
  store_id         text collate "C" not null,
  object           text collate "C" not null,
  relation         text collate "C" not null,
  subject          text collate "C" not null,
  subject_relation text collate "C" not null default '',
  condition        text collate "C" not null default '',
  context          text collate "C" not null default '',
  revision         bigint not null,
  written_at       timestamptz not null default now(),
  primary key (store_id, object, relation, subject, subject_relation)
);

create index tuples_by_subject on sallyport.tuples (store_id, subject, subject_relation, object, relation);

create table sallyport.changes (
  store_id         text collate "C" not null,
  revision         bigint not null,
  ordinal          integer not null,
  deleted          boolean not null,
  object           text collate "C" not null,
  relation         text collate "C" not null,
  subject          text collate "C" not null,
  subject_relation text collate "C" not null,
  condition        text collate "C" not null,
  context          text collate "C" not null,
  changed_at       timestamptz not null default now(),
  primary key (store_id, revision, ordinal)
);
