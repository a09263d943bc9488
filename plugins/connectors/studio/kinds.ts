import type { Word } from "./words.ts";

interface KindWords {
  readonly title: Word;
  readonly url: Word;
  /** What its methods are. */
  readonly methods?: Word;
}

/** What is said of the kinds that are known here; others are called by their own name. */
export const kindWords: Readonly<Record<string, KindWords>> = {
  "core/custom_connector": { title: "custom", url: "urlCustom", methods: "methodsHelp" },
  "core/smtp": { title: "smtp", url: "urlSmtp", methods: "methodsSmtp" },
  "core/postgres": { title: "postgres", url: "urlPostgres", methods: "methodsPostgres" },
  "core/llm": { title: "llm", url: "urlLlm" },
};

/** What a part of a method is called. */
export const partWords: Readonly<Record<string, Word>> = {
  method: "verb",
  path: "path",
  query: "query",
  headers: "headers",
  body: "body",
  description: "description",
  timeout: "seconds",
  public: "public",
  to: "to",
  cc: "cc",
  bcc: "bcc",
  from: "from",
  reply_to: "replyTo",
  subject: "subject",
  text: "text",
  html: "html",
  sql: "sql",
};
