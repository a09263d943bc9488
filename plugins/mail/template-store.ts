/** All SQL about accounts' own words for mails. */
import { readPage, type Language, type Page, type Queryable, type Sql, type Tx } from "platform";

export interface TemplateRow {
  readonly id: number;
  readonly code: string;
  readonly language: Language;
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type TemplateInput = Pick<TemplateRow, "code" | "language" | "subject" | "text" | "html">;
export type TemplateStore = ReturnType<typeof createTemplateStore>;

interface Filter {
  readonly code: string | undefined;
  readonly language: string | undefined;
}

export function createTemplateStore(sql: Sql) {
  const columns = sql`id, code, language, subject, text, html, version, created_at, updated_at`;

  return {
    async list(accountId: number, { code, language }: Filter, page: Page) {
      const where = sql`
        account_id = ${accountId} ${code === undefined ? sql`` : sql`and code = ${code}`}
        ${language === undefined ? sql`` : sql`and language = ${language}`}`;
      return readPage<TemplateRow>(sql, page, {
        columns,
        from: sql`mail_templates where ${where}`,
        order: sql`code, language`,
      });
    },

    async byId(db: Queryable, accountId: number, id: number): Promise<TemplateRow | undefined> {
      const [row] = await db<TemplateRow[]>`
        select ${columns} from mail_templates where account_id = ${accountId} and id = ${id}`;
      return row;
    },

    async lock(tx: Tx, accountId: number, id: number): Promise<TemplateRow | undefined> {
      const [row] = await tx<TemplateRow[]>`
        select ${columns} from mail_templates where account_id = ${accountId} and id = ${id} for update`;
      return row;
    },

    async find(accountId: number, code: string, language: Language): Promise<TemplateRow | undefined> {
      const [row] = await sql<TemplateRow[]>`
        select ${columns} from mail_templates
        where account_id = ${accountId} and code = ${code} and language = ${language}`;
      return row;
    },

    async insert(tx: Tx, accountId: number, userId: number, input: TemplateInput): Promise<TemplateRow> {
      const { code, language, subject, text, html } = input;
      const [row] = await tx<TemplateRow[]>`
        insert into mail_templates (account_id, code, language, subject, text, html, created_by_id)
        values (${accountId}, ${code}, ${language}, ${subject}, ${text}, ${html}, ${userId}) returning ${columns}`;
      return row as TemplateRow; // an insert of one row returns one
    },

    async update(tx: Tx, accountId: number, id: number, userId: number, input: TemplateInput): Promise<TemplateRow> {
      const { code, language, subject, text, html } = input;
      const [row] = await tx<TemplateRow[]>`
        update mail_templates set code = ${code}, language = ${language}, subject = ${subject}, text = ${text},
          html = ${html}, updated_by_id = ${userId}, version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return row as TemplateRow; // `lock` held the row
    },

    async delete(tx: Tx, accountId: number, id: number): Promise<void> {
      await tx`delete from mail_templates where account_id = ${accountId} and id = ${id}`;
    },
  };
}
