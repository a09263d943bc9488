-- The invitation that a sign-in takes up: the hash of its link's token.
alter table sign_in_attempts add column invitation_hash text;
