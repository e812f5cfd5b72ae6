-- Consents to plans that were not applied yet: of whom, to which plan, over which running plan. An applied plan has its own in `provenance`.

create table sallyport.plan_consents (
  base_serial bigint not null,                              -- of the running plan; 0: none
  base_stamp  text collate "C" not null,
  digest      text collate "C" not null,                    -- of the plan
  identity    text collate "C" not null,                    -- of whom
  consent     text not null,                                -- JSON
  primary key (base_serial, base_stamp, digest, identity)
);
