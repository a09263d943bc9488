-- An index wherever Corestead has one for the same schema, and its free space in each page, where an update of what no
-- index holds finds room.
alter table contacts set (fillfactor = 90);
create index contacts_by_name on contacts (name, id, age, visits, joined_at, hashtext(email), hashtext(city));
create index contacts_by_email on contacts (email, id, age, visits, joined_at, hashtext(name), hashtext(city));
create index contacts_by_city on contacts (city, id, age, visits, joined_at, hashtext(name), hashtext(email));
create index contacts_by_age on contacts (age, id, visits, joined_at, hashtext(name), hashtext(email), hashtext(city));
create index contacts_by_visits on contacts (visits, id, age, joined_at, hashtext(name), hashtext(email), hashtext(city));
create index contacts_by_joined_at on contacts (joined_at, id, age, visits, hashtext(name), hashtext(email), hashtext(city));
create index contacts_by_fragment on contacts using gin (
  lower(name) gin_trgm_ops, lower(email) gin_trgm_ops, lower(city) gin_trgm_ops);
