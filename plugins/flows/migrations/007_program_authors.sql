-- Who has saved a program (null: nobody knows, or it was a command).
alter table flow_programs add column created_by_id bigint;
