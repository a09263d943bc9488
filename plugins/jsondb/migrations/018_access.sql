-- Who may do what in a database: null for whoever has the privilege `dbs`, else a list of grants.
alter table dbs add column access json;
