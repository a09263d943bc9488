/** An import: a file, its upload, and the rows that are to be mended. */
import { connection, filledIn, get, messageOf, parseJson, personHeader, session, toasts } from "studio";
import {
  bodyOfRows,
  fileRows,
  formatOf,
  formats,
  mediaTypes,
  reportOf,
  type FileRow,
  type Format,
  type Report,
} from "./import-file.ts";
import { isSameUpload, keepMended, keepUpload, readMended, readUpload, type Upload } from "./import-memory.ts";
import { taskPath } from "../paths.ts";
import type { FieldType } from "../schema.ts";
import { taskOf, type Task } from "./tasks.ts";
import { allFaults } from "./tasks.svelte.ts";
import { say } from "../words.ts";

const previewRows = 10;
const previewBytes = 500_000;
/** JSON is read as a whole to find its faulty rows. */
const mostJsonBytes = 100_000_000;

const lookMs = 1000;
/** The answer of an import has the first mistakes, and its task more of them. */
const faultsOfAnswer = 100;

/** Goes on while another page of the Studio is looked at. */
const imports = new Map<string, Import>();

export function importOf(db: string): Import {
  const known = imports.get(db);
  if (known) return known;
  const made = new Import(db);
  imports.set(db, made);
  return made;
}

class Import {
  readonly db: string;
  file = $state.raw<File | undefined>();
  format = $state<Format>("csv");
  preview = $state.raw<readonly FileRow[]>([]);
  /** Whether the good rows are stored though others are faulty. */
  partial = $state(true);
  /** 0 to 1 while it uploads, undefined when nothing does. */
  progress = $state<number | undefined>();
  report = $state.raw<Report | undefined>();
  faulty = $state.raw<readonly FileRow[]>([]);
  problem = $state("");
  /** The server's task of the file that is shown. */
  taskId = $state<string | undefined>();
  /** One that was begun elsewhere, while it runs. */
  watched = $state.raw<Task | undefined>();
  /** An upload that has had no answer: the page was left, or the connection lost. */
  unanswered = $state.raw<Upload | undefined>();
  private lastTask: string | undefined;
  private running: XMLHttpRequest | undefined;

  constructor(db: string) {
    this.db = db;
    this.unanswered = readUpload(session.person.id, db);
  }

  private remember(upload: Upload | undefined): void {
    this.unanswered = upload;
    keepUpload(session.person.id, this.db, upload);
  }

  forget(): void {
    this.remember(undefined);
  }

  private clear(): void {
    this.report = undefined;
    this.taskId = undefined;
    this.watched = undefined;
    this.faulty = [];
    this.preview = [];
    this.problem = "";
    this.file = undefined;
  }

  async choose(file: File | undefined): Promise<void> {
    this.clear();
    this.file = file;
    if (!file) return;
    const format = formatOf(file.name);
    if (!format) this.problem = say("unknownFormat");
    else this.format = format;
    await this.showPreview();
  }

  async showPreview(): Promise<void> {
    const { file, format } = this;
    if (!file) return;
    try {
      const isWhole = file.size <= previewBytes;
      if (format === "json" && !isWhole) return; // half an array cannot be read
      const text = await file.slice(0, previewBytes).text();
      const rows: FileRow[] = [];
      for await (const row of fileRows(once(text), format, parseJson)) {
        rows.push(row);
        if (rows.length === previewRows) break;
      }
      this.preview = rows;
      this.problem = "";
    } catch (error) {
      this.preview = [];
      this.problem = messageOf(error);
    }
  }

  /** Shows an import that another tab, person or program began, or this one before it was loaded again. */
  async open(id: string): Promise<void> {
    this.clear();
    this.taskId = id;
    try {
      for (;;) {
        const { json } = await get(taskPath(this.db, id));
        if (this.taskId !== id) return;
        const task = taskOf(json);
        this.watched = task;
        if (!task || task.kind !== "import") return;
        if (task.status === "running") await new Promise((resolve) => setTimeout(resolve, lookMs));
        else return await this.showEnded(task);
      }
    } catch (error) {
      if (this.taskId === id) this.problem = messageOf(error);
    }
  }

  private async showEnded({ id, status, stored, failed, done, total }: Task): Promise<void> {
    const mended = readMended(id);
    const faults = failed > 0 ? await allFaults(this.db, id) : [];
    if (this.taskId !== id) return;
    // Of a refused import the good rows were not stored either: the whole file is to be sent again.
    this.partial = status === "finished";
    this.report = {
      imported: stored + mended.size,
      failed: failed - mended.size,
      total: total ?? done,
      faults: faults.filter(({ row }) => !mended.has(row)),
    };
  }

  /** The same file again, after it was forgotten: its faulty rows are read, and nothing is sent. */
  async chooseAgain(file: File | undefined): Promise<void> {
    if (!file) return;
    const format = formatOf(file.name);
    if (format) this.format = format;
    this.file = file;
    this.problem = "";
    await this.readFaulty();
    if (this.faulty.length === 0) this.problem = say("otherFile");
  }

  /** The file of the upload that has had no answer, once more. */
  async goOn(file: File | undefined): Promise<void> {
    const upload = this.unanswered;
    if (!file || !upload) return;
    if (file.name !== upload.name || file.size !== upload.size) {
      this.problem = filledIn(say("notThatFile"), { name: upload.name });
      return;
    }
    await this.choose(file);
    this.format = formats.find((format) => format === upload.format) ?? this.format;
    this.partial = upload.partial;
    await this.send(upload.table ?? undefined);
  }

  async send(table: string | undefined): Promise<void> {
    const { file, format, partial } = this;
    if (!file || this.progress !== undefined) return;
    this.faulty = [];
    this.taskId = undefined;
    this.watched = undefined;
    const sent = { name: file.name, size: file.size, format, table: table ?? null, partial };
    const before = this.unanswered;
    const key = before && isSameUpload(before, sent) ? before.key : crypto.randomUUID();
    this.remember({ ...sent, key });
    await this.upload(file, mediaTypes[format], table, key);
    this.taskId = this.lastTask;
    await this.readFaulty();
  }

  /** The rows that the report names, out of the file. */
  private async readFaulty(): Promise<void> {
    const { file, format, report } = this;
    if (!file || !report || report.faults.length === 0) return;
    if (format === "json" && file.size > mostJsonBytes) return;
    const wanted = new Set(report.faults.map(({ row }) => row));
    const rows: FileRow[] = [];
    const texts = decoded(file.stream());
    try {
      for await (const row of fileRows(texts, format, parseJson)) {
        if (wanted.delete(row.row)) rows.push(row);
        if (wanted.size === 0) break;
      }
    } catch {
      // What cannot be read cannot be mended here; the faults are listed all the same.
    }
    this.faulty = rows;
  }

  /** Sends the mended rows alone; those that are refused again stay. */
  async sendMended(table: string | undefined, typeOf: (field: string) => FieldType | undefined): Promise<void> {
    const rows = this.faulty;
    const before = this.report;
    const { body, type } = bodyOfRows(rows, this.format, typeOf);
    await this.upload(body, type, table);
    const { report } = this;
    if (!report || report === before) return;
    // The server counts the rows of what it was sent.
    const wrong = new Set(report.faults.map(({ row }) => row));
    this.faulty = rows.filter((_, at) => wrong.has(at + 1));
    const stored = rows.flatMap(({ row }, at) => (wrong.has(at + 1) ? [] : [row]));
    if (this.taskId !== undefined) keepMended(this.taskId, stored);
    const renumbered = new Map([...wrong].map((row) => [row, rows[row - 1]?.row ?? row]));
    this.report = {
      ...report,
      failed: Math.max(0, (before?.failed ?? 0) - stored.length),
      imported: report.imported + (before?.imported ?? 0),
      total: before?.total ?? report.total,
      faults: report.faults.map((fault) => ({
        ...fault,
        row: renumbered.get(fault.row) ?? fault.row,
        line: undefined,
      })),
    };
  }

  mend(row: number, field: string, text: string): void {
    this.faulty = this.faulty.map((one) =>
      one.row === row ? { ...one, cells: { ...one.cells, [field]: text } } : one,
    );
  }

  stop(): void {
    this.running?.abort();
    this.forget();
  }

  /** fetch tells nothing of how much has been sent. */
  private upload(
    body: File | string,
    type: string,
    table: string | undefined,
    key: string = crypto.randomUUID(),
  ): Promise<void> {
    const query = new URLSearchParams({
      ...(this.partial && { partial: "true" }),
      ...(table !== undefined && { table_name: table }),
    });
    this.problem = "";
    this.progress = 0;
    addEventListener("beforeunload", warn);
    return new Promise((resolve) => {
      const sending = new XMLHttpRequest();
      this.running = sending;
      sending.upload.addEventListener(
        "progress",
        ({ loaded, total }) => (this.progress = total > 0 ? loaded / total : 0),
      );
      sending.addEventListener("loadend", () => {
        this.running = undefined;
        this.progress = undefined;
        removeEventListener("beforeunload", warn);
        if (sending.status === 401) {
          const again = connection.signedInAgain().then(() => this.upload(body, type, table, key));
          return resolve(again);
        }
        this.ended(sending);
        resolve(this.moreFaults());
      });
      sending.open("POST", `/core/dbs/${encodeURIComponent(this.db)}/import?${query}`);
      sending.setRequestHeader("content-type", type);
      sending.setRequestHeader("idempotency-key", key);
      for (const [name, value] of Object.entries(personHeader())) sending.setRequestHeader(name, value);
      sending.send(body);
    });
  }

  private async moreFaults(): Promise<void> {
    const { report, lastTask } = this;
    if (!report || lastTask === undefined || report.faults.length < faultsOfAnswer) return;
    try {
      const faults = await allFaults(this.db, lastTask);
      if (this.report === report && faults.length > 0) this.report = { ...report, faults };
    } catch {
      // Those that the answer names are shown all the same.
    }
  }

  private ended(sending: XMLHttpRequest): void {
    this.lastTask = sending.getResponseHeader("x-task-id") ?? undefined;
    if (sending.status === 0) {
      this.problem = say("notSent");
      return;
    }
    this.forget();
    let json: unknown;
    try {
      json = JSON.parse(sending.responseText);
    } catch {
      json = undefined;
    }
    const report = reportOf(json);
    if (report) {
      this.report = report;
      if (report.imported > 0) toasts.say(say("saved"));
    } else this.problem = errorOf(json) || sending.statusText;
  }
}

/** The upload goes on in other pages of the Studio, but not when all of it is left. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function errorOf(json: unknown): string {
  if (typeof json !== "object" || json === null) return "";
  return "error" in json ? String(json.error) : JSON.stringify(json);
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

async function* decoded(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    yield decoder.decode(next.value, { stream: true });
  yield decoder.decode();
}
