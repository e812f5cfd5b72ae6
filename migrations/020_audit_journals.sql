-- Journals of processes that changed their plan while the database was unavailable: how many of their rows the audit log has. A process that ends between
-- the commit and the removal of its journal does not append the rows again.

create table sallyport.audit_journals (
  id   text collate "C" primary key,
  rows bigint not null,
  at   timestamptz not null default now()
);
