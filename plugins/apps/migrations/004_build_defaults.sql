-- An app is inserted like every resource, and gets its build in the same transaction.
alter table apps alter column app_code set default '', alter column css_code set default '',
  alter column toolchain set default '';
