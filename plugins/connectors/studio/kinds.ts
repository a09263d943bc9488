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

/** Where language models are, and what each provider needs. */
export interface Provider {
  readonly id: "openai" | "anthropic" | "google" | "mistral" | "ollama" | "other";
  /** "" where a person says it. */
  readonly name: string;
  readonly url: string;
  readonly api: "openai" | "anthropic";
  /** One to begin with. */
  readonly model: string;
  /** Where one gets a key; undefined where none is needed. */
  readonly keysAt?: string;
}

export const providers: readonly [Provider, ...Provider[]] = [
  {
    id: "openai",
    name: "OpenAI",
    url: "https://api.openai.com/v1",
    api: "openai",
    model: "gpt-5-mini",
    keysAt: "https://platform.openai.com/api-keys",
  },
  {
    id: "anthropic",
    name: "Anthropic",
    url: "https://api.anthropic.com/v1",
    api: "anthropic",
    model: "claude-sonnet-4-5",
    keysAt: "https://console.anthropic.com/settings/keys",
  },
  {
    id: "google",
    name: "Google Gemini",
    url: "https://generativelanguage.googleapis.com/v1beta/openai",
    api: "openai",
    model: "gemini-2.5-flash",
    keysAt: "https://aistudio.google.com/apikey",
  },
  {
    id: "mistral",
    name: "Mistral",
    url: "https://api.mistral.ai/v1",
    api: "openai",
    model: "mistral-small-latest",
    keysAt: "https://console.mistral.ai/api-keys",
  },
  { id: "ollama", name: "Ollama", url: "http://127.0.0.1:11434/v1", api: "openai", model: "llama3.2" },
  { id: "other", name: "", url: "", api: "openai", model: "" },
];
