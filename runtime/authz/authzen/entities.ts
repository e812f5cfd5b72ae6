import type { JsonForm, Rewriting } from "../../check/questions.ts"
import { ApiError } from "../api-error.ts"
import { contextField } from "../context.ts"
import {
  type JsonFields,
  objectField,
  objectIdField,
  relationField,
  typeField,
  userField,
} from "../fields.ts"

const message = "AuthZEN"

/** Subject or resource of a request. In a search, the entity that is searched for has no id. */
export interface AuthzenEntity {
  readonly type: string
  readonly id: string
  readonly properties: JsonFields | undefined
}

/** The action. Its name is a relation of the resource's type. */
export interface AuthzenAction {
  readonly name: string
  readonly properties: JsonFields | undefined
}

const wholeStar = /^%(?:25)*2A$/
const unwritable = /[\t\n\f\r #:\0]|%(?=(?:25)*(?:00|09|0A|0C|0D|20|23|3A))/g
const written = /%(?:00|09|0A|0C|0D|20|23|3A|25(?=(?:25)*(?:00|09|0A|0C|0D|20|23|3A)))/g

/** The JSON object of a required entity. Missing fields of `required` come from `otherwise`, the default of the batch. */
export function entityFields(
  value: unknown,
  otherwise: unknown,
  name: string,
  required: readonly string[],
): JsonFields {
  const own = objectField(value, name)
  const general = objectField(otherwise, name)
  if (own === undefined && general === undefined) throw missing(name)
  if (own === undefined || general === undefined) return (own ?? general) as JsonFields
  const merged: Record<string, unknown> = { ...own }
  for (const key of required) merged[key] = own[key] ?? general[key]
  return merged
}

export function entityOf(fields: JsonFields, name: string): AuthzenEntity {
  return {
    type: typeOf(fields, name),
    id: required(fields, name, "id"),
    properties: contextField(fields["properties"], `${name}.properties`),
  }
}

/** The entity that a search looks for. An id in it has no meaning (section "Search" of the specification) and is ignored. */
export function soughtOf(fields: JsonFields, name: string): AuthzenEntity {
  const properties = contextField(fields["properties"], `${name}.properties`)
  return { type: required(fields, name, "type"), id: "", properties }
}

export function actionOf(fields: JsonFields): AuthzenAction {
  return {
    name: required(fields, "action", "name"),
    properties: contextField(fields["properties"], "action.properties"),
  }
}

/**
 * The action as a relation.
 * @throws ApiError when the name cannot be a relation
 */
export function relationOf({ name }: AuthzenAction): string {
  return relationField(name, message)
}

/** The subject as a user. The id `*` means all users of the type, as in a tuple. */
export function userOf({ type, id }: AuthzenEntity): string {
  return nameOf("subject", { type, id: encodeId(id) }, 512, userField)
}

/** The resource as an object. */
export function objectOf({ type, id }: AuthzenEntity): string {
  return nameOf("resource", { type, id: encodeResourceId(id) }, 256, objectIdField)
}

/** Users of the engine, all of one type, in AuthZEN's form. */
export function subjectForm(type: string): JsonForm {
  return formOf(type, { name: "subject", having: "%", decoded: decodeId })
}

/** Objects of the engine, all of one type, in AuthZEN's form. */
export function resourceForm(type: string): JsonForm {
  return formOf(type, { name: "resource", having: "%", decoded: decodeResourceId })
}

function formOf(type: string, rewritten: Rewriting): JsonForm {
  const before = `{"type":${JSON.stringify(type)},"id":"`
  return { before, behind: '"}', skip: Buffer.byteLength(type) + 1, rewritten }
}

/** Type and id in the engine's form. Errors name the two fields that the client knows. */
function nameOf(
  of: string,
  { type, id }: { readonly type: string; readonly id: string },
  charactersMax: number,
  read: (name: string, message: string) => string,
): string {
  try {
    return read(`${type}:${id}`, message)
  } catch {
    const reason = `with its type it may have ${charactersMax} characters (512 bytes), and no half of a surrogate pair`
    throw new ApiError(
      "validation_error",
      `${of}.id: ${reason}; white space, \`:\`, \`#\` and NUL count as three`,
    )
  }
}

/** A type with `:` or `#` would turn the rest into another object. */
function typeOf(fields: JsonFields, name: string): string {
  return typeField(required(fields, name, "type"), message)
}

function required(fields: JsonFields, name: string, key: string): string {
  const value = fields[key]
  if (value === undefined || value === null || value === "") throw missing(`${name}.${key}`)
  if (typeof value !== "string")
    throw new ApiError("validation_error", `${name}.${key}: a JSON string is expected`)
  return value
}

function missing(what: string): ApiError {
  return new ApiError("validation_error", `${what} is required`)
}

/**
 * AuthZEN's ids are any text; an object's id in the engine has no white space, `:` or `#`. Those characters and NUL are written as `%XX`. A
 * literal `%` in front of such a text gets `25` after it, so that the encoding is unambiguous. Everything else is unchanged
 * (`rick@the-citadel.com`, `50%`, `%41`), so that ids in existing tuples are found. Every id of the engine has exactly one AuthZEN id, so
 * that a list never shows two entities under one id.
 */
export function encodeId(id: string): string {
  return /[\t\n\f\r #:%\0]/.test(id) ? id.replace(unwritable, escaped) : id
}

/** The inverse of `encodeId`. */
export function decodeId(text: string): string {
  return text.includes("%") ? text.replace(written, unescaped) : text
}

/** Like `encodeId`, for entities for which `*` is a normal id: in a tuple it would mean all of the type. */
export function encodeResourceId(id: string): string {
  if (id === "*") return "%2A"
  return wholeStar.test(id) ? `%25${id.slice(1)}` : encodeId(id)
}

/** The inverse of `encodeResourceId`. */
export function decodeResourceId(text: string): string {
  if (text === "%2A") return "*"
  return wholeStar.test(text) ? `%${text.slice(3)}` : decodeId(text)
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`
}

function unescaped(text: string): string {
  return String.fromCharCode(Number.parseInt(text.slice(1), 16))
}
