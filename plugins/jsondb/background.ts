/** Jobs over all records of one database. */
import { job } from "platform";

interface OfDatabase {
  readonly accountId: number;
  readonly dbId: string;
}

/** Fills the index columns of records that an older plan has written. */
export const reindexRecords = job<OfDatabase>("jsondb.reindex");

/** Deletes the records of a database that is gone. */
export const dropRecords = job<OfDatabase>("jsondb.drop");
