-- Who made, signed and consented to a plan, and the identity of the history that seals name.

alter table sallyport.plans add column provenance text;  -- JSON; null: nothing is known

-- One row, which the first reader inserts: a packed database must not give its identity to others.
create table sallyport.plan_history (
  id       integer primary key check (id = 1),
  identity text not null
);
