-- What was called, by the hour, and by the day once it is old. A batch of a process is counted once, however often it is sent: its id is stored in the
-- same transaction. Latencies are counts by fixed bounds (runtime/usage/sketch.ts), so that they can be added.

create table sallyport.usage_batches (
  id         text collate "C" primary key,                  -- ULID
  written_at timestamptz not null default now()
);
insert into sallyport.usage_batches (id, written_at) values ('roll-up', 'infinity');    -- the lock of who puts old rows together

create table sallyport.usage (
  grain        text not null,                               -- hour, day
  bucket       timestamptz not null,                        -- its beginning, UTC
  subscription text collate "C" not null,                   -- '' where there was none
  product      text collate "C" not null,
  api          text collate "C" not null,
  version      text collate "C" not null,
  operation    text collate "C" not null,
  status       smallint not null,                           -- class of the status, 0: no answer
  price        text collate "C" not null,                   -- of a call, e.g. 0.002 EUR; '': none
  calls        bigint not null,
  billed       bigint not null,
  bytes_in     bigint not null,
  bytes_out    bigint not null,
  latency      bigint[] not null,
  primary key (grain, bucket, subscription, product, api, version, operation, status, price)
);

create index usage_by_bucket on sallyport.usage (bucket);

-- Quotas: what a key has used up of a period. Processes take portions of it before they use them.
create table sallyport.quotas (
  counter      text collate "C" not null,
  key          text collate "C" not null,
  period_start timestamptz not null,
  calls        bigint not null,
  bytes        bigint not null,
  ends_at      timestamptz,                                 -- null: never
  primary key (counter, key, period_start)
);

create index quotas_by_end on sallyport.quotas (ends_at);

-- What a process says of itself besides its plan.
alter table sallyport.processes add column state text not null default 'active';
alter table sallyport.processes add column reasons text not null default '[]';       -- JSON list
alter table sallyport.processes add column subscriptions bigint;                      -- revision of the issued subscriptions it knows
