-- Whose order it was: an account's orders have a budget, and its domains may be gone meanwhile.
alter table certificate_orders add column account_id bigint;
create index certificate_orders_by_host on certificate_orders (host, at);
