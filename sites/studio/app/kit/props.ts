/** What the pages of plugins may say to the pages of the kit. */
import type { Snippet } from "svelte";
import type { Editor } from "../state/editor.svelte.ts";
import type { FormField, Input } from "../resources/forms.ts";
import type { Resource } from "../resources/resources.ts";

type Row = Readonly<Record<string, unknown>>;

/** What every page gets. */
export interface PageProps {
  /** Of its address. */
  readonly params: Readonly<Record<string, string>>;
}

/** What a plugin's page may say to `Item` of the kit. */
export interface ItemProps {
  readonly resource: Resource;
  readonly values: readonly string[];
  readonly isNew: boolean;
  /** What the form does, in one sentence. */
  readonly lead?: string;
  /** What a record without a name of its own is called. */
  readonly called?: (record: Row) => string;
  /** The fields to show first, in this order; the others are folded away. */
  readonly fields?: readonly string[];
  /** What a new record begins with, by field: the server takes it if nothing is said. */
  readonly begins?: Row;
  /** What is proposed for a new record, by field. */
  readonly suggested?: Row;
  /** The words of the button that saves, by what is put in. */
  readonly saving?: (inputs: Row) => string;
  /** By field, instead of what the API says. */
  readonly helps?: Readonly<Record<string, string>>;
  /** The fields that `custom` shows. */
  readonly own?: readonly string[];
  readonly custom?: Snippet<[CustomField, Editor]>;
  /** Follows the form of a record that exists. */
  readonly below?: Snippet<[Editor]>;
  /** What of a new record is shown once, by its words. */
  readonly revealed?: (once: Row, record: Row) => Row;
  /** Why the record cannot be deleted. */
  readonly keep?: (record: Row) => string | undefined;
  readonly hasActions?: boolean;
  /** Whether the page leads to the lists and pages below the record. */
  readonly hasTabs?: boolean;
  /** Actions that the page offers itself, by their words: `test`. */
  readonly omit?: readonly string[];
  /** Before the buttons of the actions, once the record is there. */
  readonly beside?: Snippet<[Editor]>;
}

export interface CustomField {
  readonly field: FormField;
  readonly value: Input;
  readonly messages: readonly string[];
  readonly onchange: (value: Input) => void;
}

/** What a plugin's page may say to `List` of the kit. */
export interface ListProps {
  readonly resource: Resource;
  readonly values: readonly string[];
  readonly lead?: string;
  /** The columns at first. `cell` may show some that the API does not have. */
  readonly columns?: readonly string[];
  /** The headings of columns. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The columns that `cell` shows. */
  readonly own?: readonly string[];
  readonly cell?: Snippet<[string, Row]>;
  readonly isDim?: (row: Row) => boolean;
  /** What a row without a name of its own is called. */
  readonly called?: (row: Row) => string;
  /** Filters to choose with one click. */
  readonly quick?: readonly { readonly title: string; readonly query: Readonly<Record<string, string>> }[];
  /** The sentence of a list that has nothing. */
  readonly empty?: string;
  /** Before the button that makes a new one. */
  readonly beside?: Snippet;
  /** The words of that button. */
  readonly make?: string;
  /** Sent with every request for rows. With `count: "false"` the rows are counted once they are there. */
  readonly also?: Readonly<Record<string, string>>;
  /** Follows what happens on the server; gives back what ends it. */
  readonly live?: (updates: ListUpdates) => () => void;
}

/** Callbacks for news: a row on the list changes in place, one that is not on it is offered. */
export interface ListUpdates {
  /** The fields of a row that are known; with `isNew`, one that belongs into this list. */
  readonly changed: (row: Row, isNew: boolean) => void;
  /** Something may have been missed. */
  readonly missed: () => void;
  /** Something may have changed, the list knows not what: it reads its rows again and compares. */
  readonly looked: () => Promise<void>;
}
