-- Plans that serve a share of the callers beside the newest plan, and what each process has counted. At most one runs; the others are history.

create table sallyport.plan_canaries (
  id           text collate "C" primary key,                -- ULID
  base_serial  bigint not null,                             -- of the plan that serves the other callers
  base_stamp   text collate "C" not null,
  digest       text collate "C" not null,
  plan         text not null,                               -- empty when it is over
  percent      double precision not null,
  seconds      bigint not null,
  limits       text not null,                               -- JSON: when it ends early
  applied_by   text not null default '',
  git_commit   text not null default '',
  message      text not null default '',
  provenance   text,
  started_at   timestamptz not null default now(),
  watched_at   timestamptz not null default now(),          -- when a process last judged it; without that, every process gives it up
  holder       text collate "C" not null default '',        -- the process that judges it, until held_until
  held_until   timestamptz,
  state        text not null default 'running',             -- or promoted, returned, cancelled, superseded
  ended_at     timestamptz,
  ended_by     text not null default '',                    -- empty: automatically
  reason       text not null default '',
  counts       text,                                        -- JSON: the sums at its end
  serial       bigint                                       -- of the plan that it became
);

create unique index plan_canaries_running on sallyport.plan_canaries (state) where state = 'running';

create table sallyport.plan_canary_reports (
  canary      text collate "C" not null,
  process     text collate "C" not null,
  name        text not null default '',                     -- host:pid
  counts      text,                                         -- JSON; null: it has served none
  error       text not null default '',                     -- why the process cannot serve the plan
  reported_at timestamptz not null default now(),
  primary key (canary, process)
);
