-- Refused requests of the last hour, so that `explain request --id` finds them from every process.
create table sallyport.refusals (
  id      text collate "C" primary key,
  kept_at timestamptz not null default now(),
  refusal text not null                                     -- JSON
);

create index refusals_by_time on sallyport.refusals (kept_at);
