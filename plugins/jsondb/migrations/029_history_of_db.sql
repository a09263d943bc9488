-- The changes of a database, the newest first.
create index record_history_of_db on record_history (db_id, at desc, id desc, n desc);
