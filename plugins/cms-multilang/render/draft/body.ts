/** What is asked of a preview: a saved page, what was typed over it, and where it is looked at. */
import { field, Type } from "platform";
import { localeField } from "../../input.ts";
import { PageBody } from "../../pages/page.ts";

const own = PageBody.properties;

export const DraftBody = Type.Object({
  id: Type.Union([field.id(), Type.String({ maxLength: 100 })], { description: "id or code of the saved page" }),
  site_code: Type.Optional(field.nullable(Type.String({ maxLength: 100, description: "needed only with a code" }))),
  domain: Type.Optional(field.nullable(Type.String({ maxLength: 300, description: "a domain of the site" }))),
  lang: localeField(),
  name: own.name,
  path: own.path,
  locale: own.locale,
  layout_id: own.layout_id,
  layout_code: own.layout_code,
  content: own.content,
  fields: own.fields,
  html_title: own.html_title,
  html_description: own.html_description,
  html_keywords: own.html_keywords,
  based_on_page_id: own.based_on_page_id,
  based_on_page_code: own.based_on_page_code,
});
