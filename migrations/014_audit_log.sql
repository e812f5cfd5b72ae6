-- What operators did through the control API. Each row has the hash of the row before it and of its own entry, so that altered and removed rows are found.

create table sallyport.audit_log (
  seq   bigint primary key,
  at    timestamptz not null,
  entry text not null,                                      -- canonical JSON, with seq and at
  hash  text collate "C" not null                           -- SHA-256 of the hash before, a line feed and the entry, in hex
);

create index audit_log_by_time on sallyport.audit_log (at);

-- One row: the end of the chain, and the last row that a retention deleted. Appending locks it, so the rows of all processes are one chain.
create table sallyport.audit_head (
  id          integer primary key check (id = 1),
  seq         bigint not null,
  hash        text collate "C" not null,
  anchor_seq  bigint not null,
  anchor_hash text collate "C" not null
);

insert into sallyport.audit_head (id, seq, hash, anchor_seq, anchor_hash) values (1, 0, '', 0, '');
