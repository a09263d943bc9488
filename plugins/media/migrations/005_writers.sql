-- The process that writes to an upload: what it held when it died is free at once.
alter table media_uploads add column writer_process uuid;
