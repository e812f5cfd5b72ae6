-- How far the feed was pruned: changes up to this revision may be missing, all of them from before this time. A reader that stands before it has to start anew.
alter table sallyport.stores add column pruned_revision bigint not null default 0;
alter table sallyport.stores add column pruned_before timestamptz;
