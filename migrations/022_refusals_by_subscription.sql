-- The subscription of a refused request, so that the developer portal can show people the errors of their own calls. Empty: none, or written by an older release.
alter table sallyport.refusals add column subscription text collate "C" not null default '';

create index refusals_by_subscription on sallyport.refusals (subscription, kept_at) where subscription <> '';
