-- It may change nothing.
alter table api_tokens add column read_only boolean not null default false;
-- Agents may delete with it over /mcp.
alter table api_tokens add column mcp_delete boolean not null default false;
