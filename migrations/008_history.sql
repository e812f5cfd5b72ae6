-- What tells one history from another: every commit has a random stamp besides its number. After a failover or a restore that lost commits others take their numbers, and a process that holds the number alone
-- would never know. Empty: committed before there were stamps.
alter table sallyport.changes add column stamp text collate "C" not null default '';
alter table sallyport.plans add column stamp text collate "C" not null default '';

-- Of the feed of subscriptions, whose rows keep only their last change.
create table sallyport.subscription_commits (
  revision bigint primary key,
  stamp    text collate "C" not null
);

-- Of a period's calls and bytes: what was ever added and what was ever given back, so that counts that were lost can be put back by those who saw them.
alter table sallyport.quotas add column returned bigint not null default 0;
