-- Certificates from ACME (RFC 8555), shared by all processes. `sealed` is encrypted with a key that is made from a secret of the plan and is not in the
-- database. The id contains what is certified, by whom, and which secret encrypts: another secret or another list of names is another row.

create table sallyport.acme_certificates (
  id         text collate "C" primary key,
  lineage    text collate "C" not null,                     -- the same for a certificate of the plan when its hosts change
  sealed     text,                                          -- certificate chain and private key; null: there is none yet
  version    bigint not null default 0,                     -- raised with each new certificate
  not_after  timestamptz,
  renew_at   timestamptz,                                   -- two thirds of the time of validity, or as the authority suggests (RFC 9773)
  suggest_at timestamptz,                                   -- when to ask the authority for its suggestion again; null: it has none
  failures   integer not null default 0,                    -- failed orders since the last certificate
  retry_at   timestamptz,
  reason     text not null default '',                      -- why the last order failed
  tried      text collate "C" not null default '',          -- the settings of the failed order: with others, the next one need not wait
  holder     text collate "C" not null default '',          -- the process that orders now, until held_until
  held_until timestamptz
);

create index acme_certificates_by_lineage on sallyport.acme_certificates (lineage);

create table sallyport.acme_accounts (
  id     text collate "C" primary key,
  sealed text not null                                      -- the private key of the account
);

-- What authorities fetch while an order runs; any process may be the one that they reach.
create table sallyport.acme_challenges (
  token      text collate "C" primary key,
  host       text collate "C" not null,
  response   text not null,
  expires_at timestamptz not null
);

create index acme_challenges_by_host on sallyport.acme_challenges (host);
