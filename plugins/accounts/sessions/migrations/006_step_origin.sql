-- By what the plugin that has found out who it is (`Proven.origin`) knows this sign-in.
alter table sign_in_steps add column origin text;
