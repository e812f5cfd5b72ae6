-- Moves of tuples from one relation or type to another (`move` in a store of the plan). While a move runs, each write of one word also writes
-- the other, so both models decide alike; a process of the fleet copies the tuples that existed before, in small transactions.

alter table sallyport.stores
  add column moves text collate "C" not null default '';    -- JSON of the moves that writes keep in step; '': none

create table sallyport.tuple_moves (
  store_id     text collate "C" not null references sallyport.stores (id),
  source       text collate "C" not null,                   -- type#relation, or a type
  target       text collate "C" not null,
  users        text collate "C" not null default '',        -- types of users, separated by spaces; '': all
  state        text collate "C" not null,                   -- copying, ready, kept, finishing, reverting
  position     text collate "C" not null default '',        -- JSON of the key of the last tuple that was examined
  examined     bigint not null default 0,
  changed      bigint not null default 0,                   -- tuples written or deleted
  failure      text not null default '',                    -- why the last attempt failed
  owner        text collate "C" not null default '',        -- process that works on it
  leased_until timestamptz not null default now(),
  started_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  primary key (store_id, source, target, users)
);
