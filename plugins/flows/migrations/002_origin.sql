-- What its starter wants to know of it later, e.g. which app's action it was and for whom. In the row: one write.
alter table flow_processes add column origin json;
