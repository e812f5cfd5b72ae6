-- What the overview shows of each process: since when it is in its state, its memory, and the share of time in which its event loop was busy.
alter table sallyport.processes add column state_since timestamptz;
alter table sallyport.processes add column memory_bytes bigint;
alter table sallyport.processes add column loop_busy double precision;
