-- As one writes them for exactly this work: an index for the one list, one for the one search, with PostgreSQL's defaults.
create index contacts_by_city on contacts (city, visits desc);
create index contacts_by_fragment on contacts using gin (lower(name) gin_trgm_ops);
