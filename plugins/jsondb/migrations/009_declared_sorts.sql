-- Indexes that the schema of a database asks for: built whatever its searches have cost, and kept while it does.
alter table db_indexes add column declared boolean not null default false;
create index db_indexes_declared on db_indexes (id) where declared and status = 'watched';
