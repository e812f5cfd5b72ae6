-- Applied plans in order, and the processes that serve them. The serial is the fence: of two applies on the same base one inserts it first.

create table sallyport.plans (
  serial     bigint primary key,
  digest     text collate "C" not null,
  plan       text not null,                                 -- the plan file as JSON, origins included
  applied_at timestamptz not null default now(),
  applied_by text not null default '',
  git_commit text not null default '',
  message    text not null default ''
);

create table sallyport.processes (
  id            text collate "C" primary key,               -- ULID, new at every start
  role          text not null,                              -- e.g. gateway,authz,control
  version       text not null default '',                   -- of the program
  host          text not null default '',
  pid           integer not null default 0,
  active_serial bigint,                                     -- null: none yet
  last_error    text not null default '',
  started_at    timestamptz not null default now(),
  heartbeat_at  timestamptz not null default now()
);
