-- Tokens of machines for the control API. The token itself is shown once, when it is made.

create table sallyport.control_tokens (
  name         text collate "C" primary key,
  digest       text collate "C" not null unique,            -- SHA-256 in hex of 256 random bits, so it needs no salt
  prefix       text collate "C" not null,                   -- the beginning of the token, so that people recognise it
  role         text collate "C" not null,
  created_at   timestamptz not null default now(),
  created_by   text not null,
  expires_at   timestamptz not null,
  last_used_at timestamptz                                   -- accurate to a minute
);
