-- invitation: a link by which a person without a password signs in once.
alter table api_tokens drop constraint api_tokens_purpose_check;
alter table api_tokens add constraint api_tokens_purpose_check
  check (purpose in ('session', 'temporary', 'invitation'));
