/** `window.core`: what an app can do on the server. */
import { CoreError, type Transport } from "./transport.ts";
import { follow, type Change } from "./follow.ts";
import { ownKeys } from "./page-storage.ts";

/** A JSON object, as the server stores it. */
export type Data = Record<string, unknown>;

/** A record whose fields stand beside its own. */
export type FlatRecord<Row = Data> = Row & {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
};

/** By path: what is at the end of a link that was followed; null for what the viewer may not read. */
interface Expanded {
  readonly expand?: Readonly<Record<string, FlatRecord | readonly (FlatRecord | null)[] | null>>;
}

export interface CoreRecord<Row = Data> extends Expanded {
  readonly id: string;
  readonly data: Row;
  readonly table_name?: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A list has commas between its items: `expand: ["customer", "customer.owner"]`. */
export type Params = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** The records that link to one, by the field that does. */
export interface Linked {
  readonly db_code: string;
  readonly table_name: string | null;
  readonly field: string;
  readonly count: number;
  /** The newest five. */
  readonly records: readonly FlatRecord[];
}

/** The public methods of a database; each works only if `public_methods` allows it (behaviour 2.4). */
export interface PublicDatabase {
  list(params?: { readonly limit?: number; readonly offset?: number }): Promise<CoreRecord[]>;
  get(id: string, params?: Params): Promise<CoreRecord>;
  create(data: Data): Promise<CoreRecord>;
  update(id: string, data: Data): Promise<CoreRecord>;
  delete(id: string): Promise<{ readonly id: string; readonly deleted: true }>;
  /** Flat records. A string is the phrase to search for: `search("anna")`. */
  search(params?: Params | string): Promise<Data[]>;
  /** Calls `run` with every change of what `list` shows; returns a function that stops it. */
  subscribe(run: (change: Change) => void): () => void;
}

/** The private API of the app's database, for signed-in viewers with the privilege `dbs`. */
export interface Records<Row = Data> {
  list(params?: Params): Promise<CoreRecord<Row>[]>;
  /** `get(id, { expand: ["customer"] })` shows what its links lead to, as far as the viewer may read. */
  get(id: string, params?: Params): Promise<CoreRecord<Row>>;
  create(data: Row, options?: TableOption): Promise<CoreRecord<Row>>;
  /** Changes only the keys in `data`. The record stays in its table unless `table_name` names another one. */
  update(id: string, data: Partial<Row>, options?: TableOption): Promise<CoreRecord<Row>>;
  delete(id: string): Promise<void>;
  /** What links to the record, of the databases that the app names and the viewer may read. */
  linked(id: string): Promise<Linked[]>;
  /**
   * Flat records, by the parameters of behaviour 4.4: `search({ q: "anna", "filter[city]": "Łódź", sort: "-age" })`.
   */
  search(params?: Params | string): Promise<(FlatRecord<Row> & Expanded)[]>;
  subscribe(run: (change: Change) => void, options?: TableOption): () => void;
}

export interface TableOption {
  readonly table_name?: string;
}

/** Small values per app and visitor, kept on the server. */
export interface Storage {
  /** The value, or null if nothing is stored. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  keys(): Promise<string[]>;
}

export interface CoreFile {
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  readonly mime: string;
  readonly size: number;
  readonly width: number | null;
  readonly height: number | null;
  /** For an `<img>` if the file is public; any other needs a `link`. */
  readonly url: string;
  readonly is_public: boolean;
  readonly created_at: string;
}

export interface UploadOptions {
  /** Default: the file's own name with some letters more, so that no two are alike. */
  readonly name?: string;
  /** Within the app's own folder. */
  readonly folder?: string;
  /** Whether everybody who has the address can read it. */
  readonly is_public?: boolean;
  /** Text by locale, for those who do not see the picture. */
  readonly alts?: Readonly<Record<string, string>>;
}

/** The files in the app's own folder of the library, for signed-in viewers with the privilege `media`. */
export interface CoreFiles {
  list(params?: Params): Promise<CoreFile[]>;
  get(id: string): Promise<CoreFile>;
  upload(file: Blob, options?: UploadOptions): Promise<CoreFile>;
  delete(id: string): Promise<void>;
  /** An address that opens a file that is not public, for an hour or `expires_in` seconds. */
  link(id: string, options?: { readonly expires_in?: number }): Promise<string>;
}

export interface Core {
  /** The public methods of the app's database, or of the database with this code. */
  db(code?: string): PublicDatabase;
  records<Row = Data>(code?: string): Records<Row>;
  /** Runs an action of the app and waits for its result; rejects if it fails, or after `timeout` ms (60,000). */
  action(name: string, params?: Data, options?: { readonly timeout?: number }): Promise<unknown>;
  readonly storage: Storage;
  readonly files: CoreFiles;
  readonly CoreError: typeof CoreError;
}

interface CoreOptions {
  readonly transport: Transport;
  readonly appId: string;
  readonly ownDb: string | null;
}

export function coreOf({ transport, appId, ownDb }: CoreOptions): Core {
  const codeOf = (code: string | undefined): string => {
    const chosen = code ?? ownDb;
    if (!chosen) throw new CoreError(0, "this app has no database: set its db_code, or name one");
    return encodeURIComponent(chosen);
  };
  const core: Core = {
    db: (code) => publicDatabase(transport, `/core/db/${codeOf(code)}`),
    records: <Row>(code?: string) => privateRecords<Row>(transport, `/core/dbs/${codeOf(code)}`),
    action: createAction(transport, `/core/apps/${appId}/action`),
    storage: Object.freeze(createStorage(transport, `/core/apps/${appId}/storage`)),
    files: Object.freeze(createFiles(transport, `apps/${appId}`)),
    CoreError,
  };
  return Object.freeze(core);
}

// The casts below name the shapes that the API documents.

function publicDatabase({ call, fetch }: Transport, base: string): PublicDatabase {
  return {
    list: (params) => call("GET", `${base}/list${queryOf(params)}`) as Promise<CoreRecord[]>,
    get: (id, params) => call("GET", `${base}/get${queryOf({ ...params, id })}`) as Promise<CoreRecord>,
    create: (data) => call("POST", `${base}/create`, { data }) as Promise<CoreRecord>,
    update: (id, data) => call("POST", `${base}/update`, { id, data }) as Promise<CoreRecord>,
    delete: (id) => call("POST", `${base}/delete`, { id }) as Promise<{ id: string; deleted: true }>,
    search: (params) => call("GET", `${base}/search${queryOf(phrase(params))}`) as Promise<Data[]>,
    subscribe: (run) => follow(fetch, `${base}/events`, run),
  };
}

function privateRecords<Row>({ call, fetch }: Transport, base: string): Records<Row> {
  const at = (id: string) => `${base}/records/${encodeURIComponent(id)}.json`;
  return {
    list: (params) => call("GET", `${base}/records.json${queryOf(params)}`) as Promise<CoreRecord<Row>[]>,
    get: (id, params) => call("GET", `${at(id)}${queryOf(params)}`) as Promise<CoreRecord<Row>>,
    create: (data, options) =>
      call("POST", `${base}/records.json`, { record: { ...options, data } }) as Promise<CoreRecord<Row>>,
    update: (id, data, options) =>
      call("PATCH", `${at(id)}?keep_table=true`, { record: { ...options, data } }) as Promise<CoreRecord<Row>>,
    delete: async (id) => void (await call("DELETE", at(id))),
    linked: (id) => call("GET", `${base}/records/${encodeURIComponent(id)}/linked.json`) as Promise<Linked[]>,
    search: (params) => call("GET", `${base}/search.json${queryOf(phrase(params))}`) as Promise<FlatRecord<Row>[]>,
    subscribe: (run, options) => follow(fetch, `${base}/events${queryOf({ ...options })}`, run),
  };
}

interface ActionAnswer {
  readonly status: "pending" | "finished" | "error";
  readonly data: unknown;
  readonly error?: string | null;
}

const longestWaitSeconds = 25;

function createAction({ call }: Transport, base: string): Core["action"] {
  return async (name, params = {}, { timeout = 60_000 } = {}) => {
    const path = `${base}/${encodeURIComponent(name)}`;
    const end = Date.now() + timeout;
    const started = (await call("POST", path, params)) as ActionAnswer & { readonly flow_process_id: string };
    let state: ActionAnswer = started;
    while (state.status === "pending") {
      const leftSeconds = Math.ceil((end - Date.now()) / 1000);
      if (leftSeconds <= 0) throw new CoreError(0, `the action ${name} did not finish within ${timeout} ms`);
      const wait = Math.min(leftSeconds, longestWaitSeconds);
      const query = queryOf({ flow_process_id: started.flow_process_id, wait });
      state = (await call("GET", `${path}/status${query}`)) as ActionAnswer;
    }
    if (state.status === "error") throw new CoreError(500, state.error ?? `the action ${name} failed`);
    return state.data;
  };
}

function createStorage({ call }: Transport, base: string): Storage {
  const at = (key: string) => `${base}/${encodeURIComponent(key)}.json`;
  return {
    // A 404 would appear as an error in the browser's console.
    get: async (key) => ((await call("GET", at(key))) as { value: unknown }).value,
    set: async (key, value) => void (await call("PUT", at(key), { value })),
    delete: async (key) => void (await call("DELETE", at(key))),
    // The largest number of keys that one visitor can store.
    keys: async () =>
      ((await call("GET", `${base}.json?limit=1000`)) as string[]).filter((key) => !key.startsWith(ownKeys)),
  };
}

function createFiles({ call }: Transport, own: string): CoreFiles {
  const at = (id: string, rest = "") => `/core/media/${encodeURIComponent(id)}${rest}.json`;
  return {
    // An app without a sandbox sees the whole library: here it, too, has its own folder.
    list: (params) => call("GET", `/core/media.json${queryOf({ ...params, under: own })}`) as Promise<CoreFile[]>,
    get: (id) => call("GET", at(id)) as Promise<CoreFile>,
    upload(file, { name = uniqueName(file), folder, is_public = false, alts } = {}) {
      const form = new FormData();
      form.set("name", name);
      form.set("folder", folder ? `${own}/${folder}` : own);
      form.set("is_public", `${is_public}`);
      if (alts) form.set("alts", JSON.stringify(alts));
      form.set("file", file, name);
      return call("POST", "/core/media.json", form) as Promise<CoreFile>;
    },
    delete: async (id) => void (await call("DELETE", at(id))),
    link: async (id, options) =>
      ((await call("POST", at(id, "/link"), { link: { ...options } })) as { url: string }).url,
  };
}

/** `photo.jpg` -> `photo-k3x9a1f0.jpg` */
function uniqueName(file: Blob): string {
  const name = file instanceof File ? file.name : "file";
  const dot = name.lastIndexOf(".");
  const end = dot > 0 ? dot : name.length;
  return `${name.slice(0, end)}-${Math.random().toString(36).slice(2, 10)}${name.slice(end)}`;
}

function phrase(params: Params | string | undefined): Params | undefined {
  return typeof params === "string" ? { q: params } : params;
}

function queryOf(params: Params | undefined): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    // Of `filter[city][in][]` each item is a parameter of its own: an item may have a comma.
    if (Array.isArray(value) && name.endsWith("[]")) for (const one of value) query.append(name, String(one));
    else if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
