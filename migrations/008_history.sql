-- What tells one history from another: every commit has a random stamp besides its number. After a failover or a restore that lost commits others take their numbers, and a process that holds the number alone
-- would never know. Empty: committed before there were stamps.
alter table sallyport.changes add column stamp text collate "C" not null default '';
alter table sallyport.plans add column stamp text collate "C" not null default '';
