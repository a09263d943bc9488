-- The databases that a token opens, by id, each up to a level; null: all of its owner's.
alter table api_tokens add column databases json;
