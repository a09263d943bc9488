-- The data of a record before an update, where `access` has conditions: those whose records it leaves are told so.
alter table record_changes add column was jsonb;
