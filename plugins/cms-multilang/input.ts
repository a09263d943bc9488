/** The fields that several resources share in their bodies. */
import { field, Type } from "platform";
import { locales } from "./locales.ts";
import { maxContent, maxTemplate } from "./texts.ts";

/** An empty text means null. */
export const localeField = () => Type.Optional(field.nullable(Type.Union([field.oneOf(locales), Type.Literal("")])));
export const siteLocale = () => Type.Optional(field.nullable(field.oneOf(locales)));

/** A reference by code; an empty text means null. */
export const codeRef = () => Type.Optional(field.nullable(Type.String({ maxLength: 100 })));
export const idRef = () => Type.Optional(field.nullable(field.id()));

/** The media types tell forms how to colour the text. */
export const contentField = () => textField(maxContent, { contentMediaType: "text/html" });
export const templateField = () => textField(maxTemplate, { contentMediaType: "text/x-liquid" });
export const fieldsField = () => Type.Optional(field.object());
export const pathField = () => Type.Optional(Type.String({ maxLength: 4000 }));
export const nameField = () => Type.Optional(field.name());
export const flag = () => Type.Optional(field.flag());
export const textField = (maxLength: number, more: { readonly contentMediaType?: string } = {}) =>
  Type.Optional(field.nullable(Type.String({ maxLength, ...more })));
export const positionField = () => Type.Optional(Type.Integer({ minimum: -1_000_000_000, maximum: 1_000_000_000 }));

/** The site of a new record; it cannot be changed later. */
export const siteRef = () => ({ site_code: codeRef(), site_id: idRef() });
