-- What is expected of a model, as its authors stored it: OpenFGA's assertions, as a JSON list.

create table sallyport.assertions (
  store_id   text collate "C" not null,
  model_id   text collate "C" not null,
  assertions text not null,
  updated_at timestamptz not null default now(),
  primary key (store_id, model_id),
  foreign key (store_id, model_id) references sallyport.models (store_id, id)
);
