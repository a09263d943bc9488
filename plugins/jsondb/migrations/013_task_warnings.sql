-- What an import has left out or stored otherwise than it may seem: the hints of its header `Warning`.
alter table db_tasks add column warnings json not null default '[]';
