-- By what the Studio shows it: the name of a picture and a colour.
alter table flows add column icon text, add column color text;
