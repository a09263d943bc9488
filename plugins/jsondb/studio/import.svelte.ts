/** An import: a file, its upload, and the rows that are to be mended. */
import { connection, personHeader, toasts } from "studio";
import { messageOf } from "./database.svelte.ts";
import {
  bodyOfRows,
  fileRows,
  formatOf,
  mediaTypes,
  reportOf,
  type FileRow,
  type Format,
  type Report,
} from "./import-file.ts";
import type { FieldType } from "./schema.ts";
import { say } from "./words.svelte.ts";

const previewRows = 10;
const previewBytes = 500_000;
/** JSON is read as a whole to find its faulty rows. */
const mostJsonBytes = 100_000_000;

export class Import {
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
  private running: XMLHttpRequest | undefined;

  constructor(db: string) {
    this.db = db;
  }

  async choose(file: File | undefined): Promise<void> {
    this.report = undefined;
    this.faulty = [];
    this.preview = [];
    this.problem = "";
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
      for await (const row of fileRows(once(text), format)) {
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

  async send(table: string | undefined): Promise<void> {
    const { file, format } = this;
    if (!file || this.progress !== undefined) return;
    this.faulty = [];
    await this.upload(file, mediaTypes[format], table);
    const { report } = this;
    if (!report || report.faults.length === 0) return;
    if (format === "json" && file.size > mostJsonBytes) return;
    const wanted = new Set(report.faults.map(({ row }) => row));
    const rows: FileRow[] = [];
    const texts = decoded(file.stream());
    try {
      for await (const row of fileRows(texts, format)) {
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
    const renumbered = new Map([...wrong].map((row) => [row, rows[row - 1]?.row ?? row]));
    this.report = {
      ...report,
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
  }

  /** fetch tells nothing of how much has been sent. */
  private upload(body: File | string, type: string, table: string | undefined): Promise<void> {
    const query = new URLSearchParams({
      ...(this.partial && { partial: "true" }),
      ...(table !== undefined && { table_name: table }),
    });
    this.problem = "";
    this.progress = 0;
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
        if (sending.status === 401) {
          const again = connection.signedInAgain().then(() => this.upload(body, type, table));
          return resolve(again);
        }
        this.ended(sending);
        resolve();
      });
      sending.open("POST", `/core/dbs/${encodeURIComponent(this.db)}/import?${query}`);
      sending.setRequestHeader("content-type", type);
      sending.setRequestHeader("idempotency-key", crypto.randomUUID());
      for (const [name, value] of Object.entries(personHeader())) sending.setRequestHeader(name, value);
      sending.send(body);
    });
  }

  private ended(sending: XMLHttpRequest): void {
    if (sending.status === 0) {
      this.problem = say("notSent");
      return;
    }
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
