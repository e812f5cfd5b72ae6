-- Tokens of machines that may do only some operations of their role.

alter table sallyport.control_tokens add column may text;  -- JSON list of operations and groups; null: everything that the role may do
