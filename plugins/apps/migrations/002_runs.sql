-- A flow process carries its action and visitor itself, since flows 002_origin.
drop table app_runs;
