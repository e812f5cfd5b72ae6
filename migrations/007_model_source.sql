-- The text a model was written in, when it came as text: the JSON has neither its comments nor its order.
alter table sallyport.models add column source text;
