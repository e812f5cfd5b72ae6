-- How a deleted tuple stood at a past revision: the feed's deletes do not say its condition. Only deletes and writes with a condition are in the index, so that
-- it costs nothing where there are no conditions.
create index changes_by_key on sallyport.changes (store_id, object, relation, subject, subject_relation, revision)
  where deleted or condition <> '';
