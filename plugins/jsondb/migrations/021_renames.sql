-- Fields that are being renamed: [{ plan, table, from, to }]. Records of an older plan have the old names.
alter table dbs add column renames jsonb not null default '[]';

-- A record's data under the names of today; `plan` is the one that it was written by. What stands under the new name
-- already is younger, and stays.
create function record_renamed(data jsonb, renames jsonb, tbl text, plan integer) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  one jsonb;
begin
  for one in
    select r.value from jsonb_array_elements(renames) with ordinality r (value, at)
    where r.value ->> 'table' = tbl and (r.value ->> 'plan')::integer > plan order by r.at
  loop
    if data ? (one ->> 'from') then
      data := case when data ? (one ->> 'to') then data
        else data || jsonb_build_object(one ->> 'to', data -> (one ->> 'from')) end - (one ->> 'from');
    end if;
  end loop;
  return data;
end $$;
