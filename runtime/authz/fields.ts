import { ApiError, type ApiErrorCode } from "./api-error.ts"
import { misspelled } from "./field-names.ts"

/**
 * The rules on single fields, which OpenFGA generates from its protobuf files. A message names the protobuf message and field, as OpenFGA's
 * do. Written by hand instead of as a schema, because they run before every check.
 */

/** A JSON object. */
export type JsonFields = Readonly<Record<string, unknown>>

const patterns = {
  user: '"^[^\\\\s]{2,512}$"',
  relation: '"^[^:#@\\\\s]{1,50}$"',
  object: '"^[^\\\\s]{2,256}$"',
  type: '"^[^:#@\\\\s]{1,254}$"',
  objectId: '"[^#:\\\\s]+$"',
  condition: '"^[^\\\\s]{2,256}$"',
  id: '"^[ABCDEFGHJKMNPQRSTVWXYZ0-9]{26}$"',
  storeName: '"^[a-zA-Z0-9\\\\s\\\\.\\\\-\\\\/^_&@]{3,64}$"',
} as const

const idPattern = /^[ABCDEFGHJKMNPQRSTVWXYZ0-9]{26}$/
const storeNamePattern = /^[a-zA-Z0-9\t\n\f\r .\-/^_&@]{3,64}$/

/**
 * The value of a multi-word field; null counts as absent, as in protobuf's JSON.
 * @throws ApiError when the name is spelled `camel`
 */
export function pick(fields: JsonFields, snake: string, camel: string): unknown {
  if ((fields[camel] ?? undefined) !== undefined) throw misspelled(camel)
  return fields[snake] ?? undefined
}

export function invalid(message: string, field: string, reason: string, code?: ApiErrorCode): ApiError {
  return new ApiError(code ?? "validation_error", `invalid ${message}.${field}: ${reason}`)
}

/** The object that contains the tuples of a write, and contextual tuples of most questions. */
export const tupleListExample = '{"tuple_keys": […]}'

function wrongForm(name: string, expected: string, value: unknown): ApiError {
  const found =
    typeof value !== "object" ? `a ${typeof value}` : Array.isArray(value) ? "an array" : "an object"
  return new ApiError("validation_error", `${name}: expected ${expected}, found ${found}`)
}

/** An absent object is undefined. `like`: an example of the object, for the message. */
export function objectField(value: unknown, name: string, like = ""): JsonFields | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== "object" || Array.isArray(value))
    throw wrongForm(name, like === "" ? "a JSON object" : `a JSON object like ${like}`, value)
  return value as JsonFields
}

/** An absent array is empty. */
export function arrayField(value: unknown, name: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw wrongForm(name, "a JSON array", value)
  if (value.includes(null)) throw new ApiError("validation_error", `${name}: a list must not contain null`)
  return value
}

/** An absent string is empty, as in protobuf. */
export function stringField(value: unknown, name: string): string {
  if (value === undefined || value === null) return ""
  if (typeof value !== "string") throw wrongForm(name, "a JSON string", value)
  return value
}

export function booleanField(value: unknown, name: string): boolean {
  if (value === undefined || value === null) return false
  if (typeof value !== "boolean") throw wrongForm(name, "true or false", value)
  return value
}

/** `user` of the named protobuf message. */
export function userField(value: unknown, message: string): string {
  const text = stringField(value, "user")
  // A character has at most four bytes.
  if (isWord(text, 2, 512) && (text.length <= 128 || Buffer.byteLength(text) <= 512)) return text
  if (isWord(text, 2, 512)) throw userTooLong(message)
  throw invalid(message, "User", `value does not match regex pattern ${patterns.user}`)
}

const userTooLong = (message: string) => invalid(message, "User", "value length must be at most 512 bytes")

/**
 * `user`, `relation` and `object` of a tuple to write or delete, or of a contextual tuple. This refuses only what the database cannot
 * store. The model validates the rest, with a better message and, in a batch, for one check only.
 */
export function tupleFields(
  fields: JsonFields,
  message: string,
): { user: string; relation: string; object: string } {
  const user = stringField(fields["user"], "user")
  if (Buffer.byteLength(user) > 512) throw userTooLong(message)
  if (/[\0\p{Surrogate}]/u.test(user))
    throw invalid(message, "User", `value does not match regex pattern ${patterns.user}`)
  const relation = stringField(fields["relation"], "relation")
  const object = stringField(fields["object"], "object")
  return {
    user,
    relation: relation === "" ? "" : relationField(relation, message),
    object: object === "" ? "" : objectIdField(object, message),
  }
}

export function relationField(value: unknown, message: string): string {
  const text = stringField(value, "relation")
  if (isWord(text, 1, 50) && isName(text)) return text
  throw invalid(message, "Relation", `value does not match regex pattern ${patterns.relation}`)
}

export function objectIdField(value: unknown, message: string): string {
  const text = stringField(value, "object")
  if (isWord(text, 2, 256)) return text
  throw invalid(message, "Object", `value does not match regex pattern ${patterns.object}`)
}

/** `type` of the named protobuf message. */
export function typeField(value: unknown, message: string): string {
  const text = stringField(value, "type")
  if (isWord(text, 1, 254) && isName(text)) return text
  throw invalid(
    message,
    "Type",
    `value does not match regex pattern ${patterns.type}`,
    "type_invalid_pattern",
  )
}

/** The id of an object whose type is a separate field. */
export function idField(value: unknown, message: string): string {
  const text = stringField(value, "id")
  if (isWord(text, 1, 512) && !/[:#]/.test(text)) return text
  throw invalid(message, "Id", `value does not match regex pattern ${patterns.objectId}`)
}

/** `user` in list-objects, which has a rule of its own. */
export function userBytesField(value: unknown, message: string): string {
  const text = stringField(value, "user")
  const bytes = Buffer.byteLength(text)
  if (bytes < 1 || bytes > 512)
    throw invalid(message, "User", "value length must be between 1 and 512 bytes, inclusive")
  return text
}

export function conditionNameField(value: unknown): string {
  const text = stringField(value, "condition.name")
  if (isWord(text, 2, 256)) return text
  throw invalid("RelationshipCondition", "Name", `value does not match regex pattern ${patterns.condition}`)
}

/** Empty when absent. */
export function modelIdField(value: unknown, message: string, field = "AuthorizationModelId"): string {
  const text = stringField(value, "authorization_model_id")
  if (text === "" || idPattern.test(text)) return text
  throw invalid(message, field, `value does not match regex pattern ${patterns.id}`)
}

export function storeNameField(value: unknown, message: string): string {
  const text = stringField(value, "name")
  if (storeNamePattern.test(text)) return text
  throw invalid(message, "Name", `value does not match regex pattern ${patterns.storeName}`)
}

/** 1–`max` (default: 50). In a query it is text, and in a body it may be. */
export function pageSizeField(value: unknown, message: string, max = 100): number {
  if (value === undefined || value === null) return Math.min(50, max)
  const size = typeof value === "string" && /^-?\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof size !== "number" || !Number.isInteger(size))
    throw new ApiError("validation_error", "page_size: a whole number is expected")
  if (size >= 1 && size <= max) return size
  throw invalid(message, "PageSize", `value must be inside range [1, ${max}]`, "page_size_invalid")
}

/** Empty when absent. The listing decides whether the token is valid. */
export function continuationField(value: unknown, message: string): string {
  const text = stringField(value, "continuation_token")
  if (Buffer.byteLength(text) > 5120)
    throw invalid(message, "ContinuationToken", "value length must be at most 5120 bytes")
  if (/^([A-Za-z0-9_-]+={0,2})?$/.test(text)) return text
  throw invalid(
    message,
    "ContinuationToken",
    'value does not match regex pattern "^$|^[A-Za-z0-9-_]+={0,2}$"',
  )
}

export const invalidToken = () => new ApiError("invalid_continuation_token", "Invalid continuation token")

/** Without `:`, `#` and `@`. Compares character codes, like `isWord`, because it runs for every check. */
function isName(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 58 || code === 35 || code === 64) return false
  }
  return true
}

/**
 * `min`–`max` characters (code points) without white space, and without characters that a database cannot store or would change: NUL, half
 * a surrogate pair.
 */
function isWord(text: string, min: number, max: number): boolean {
  let pairs = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    // White space as in Go's regular expressions: \t \n \f \r and space.
    if (code === 32 || code === 0 || (code >= 9 && code <= 13 && code !== 11)) return false
    if (code < 0xd800 || code > 0xdfff) continue
    at += 1
    const low = text.charCodeAt(at)
    if (code > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) return false
    pairs += 1
  }
  const length = text.length - pairs
  return length >= min && length <= max
}
