-- The newest plan that a process could not serve, so that `apply` knows without reading the error's text that waiting for this process is of no use.
alter table sallyport.processes add column refused_serial bigint;
