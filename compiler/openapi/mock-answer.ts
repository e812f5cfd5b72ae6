import type { StepOf } from "../../runtime/plan/steps.ts"
import { shown } from "../core/shown.ts"
import type { ApiDocument, Content, Operation, OperationResponse } from "./api-document.ts"
import { sampleOf } from "./sample.ts"

/** A mock response: a status, and the text of a body with its media type. */
export type MockAnswer = StepOf<"respond"> & {
  readonly status: number
  readonly media: string | null
  readonly body?: { readonly text: string }
}

/**
 * A response made from the document: its example, otherwise a sample of its schema. Returns a text with the reason when there is none. When
 * `status` or `media` is undefined, the most likely one is used. `index` selects one of several examples, from 0; the first is used when there
 * is no such example.
 */
export function mockAnswer(
  operation: Operation,
  document: ApiDocument,
  status: number | undefined,
  media: string | undefined,
  index = 0,
): MockAnswer | string {
  const response = responseOf(operation, status)
  if (response === undefined)
    return status === undefined
      ? "the operation has no response with an example or a schema"
      : `the operation has no response ${status}`
  const content = contentOf(response, media)
  if (media !== undefined && content === undefined)
    return `the response ${response.status} has no content of \`${shown(media)}\``
  const made = status ?? statusOf(response)
  const bare = { kind: "respond" as const, status: made, headers: [], media: null }
  if (content === undefined || isBodiless(made)) return bare
  return {
    ...bare,
    media: typeIn(content.media),
    body: { text: bodyOf(content, document, index) },
  }
}

/** Whether responses of a status never have a body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

/** A concrete media type for a range, because a response can't have a range. */
function typeIn(media: string): string {
  if (!media.includes("*")) return media
  if (/^(?:\*|application)\/\*/.test(media) || media.includes("+json")) return "application/json"
  return media.startsWith("text/") ? "text/plain" : "application/octet-stream"
}

/** The response for a status: the status itself, its class, or `default`. Without a status, the first success. */
function responseOf({ responses }: Operation, status: number | undefined): OperationResponse | undefined {
  const find = (wanted: string) => responses.find((each) => each.status === wanted)
  if (status !== undefined)
    return find(String(status)) ?? find(`${Math.trunc(status / 100)}xx`) ?? find("default")
  const successes = responses.filter((each) => each.status.startsWith("2"))
  return (
    [...successes].sort((a, b) => (a.status < b.status ? -1 : 1))[0] ??
    find("default") ??
    responses.find((each) => !each.status.startsWith("1"))
  )
}

function statusOf({ status }: OperationResponse): number {
  return /^\d+$/.test(status) ? Number(status) : status === "default" ? 200 : Number(status[0]) * 100
}

function contentOf({ contents }: OperationResponse, media: string | undefined): Content | undefined {
  if (media !== undefined)
    return contents.find((each) => each.media === media || each.media.split(";", 1)[0] === media)
  return contents.find((each) => /\/(?:.*\+)?json/.test(each.media)) ?? contents[0]
}

/** Number of examples to choose from. */
export function examplesOf(
  operation: Operation,
  status: number | undefined,
  media: string | undefined,
): number {
  const response = responseOf(operation, status)
  return (response === undefined ? undefined : contentOf(response, media))?.examples.length ?? 0
}

function bodyOf({ media, schema, examples }: Content, { schemas }: ApiDocument, index: number): string {
  const example = examples[index] ?? examples[0]
  const value =
    example === undefined ? (schema === undefined ? null : sampleOf(schemas, schema)) : example.value
  if (typeof value !== "string") return JSON.stringify(value)
  return typeIn(media).includes("json") && !isJsonText(value) ? JSON.stringify(value) : value
}

/** Many documents write the example of an object as a string with its JSON. */
function isJsonText(text: string): boolean {
  try {
    return /^\s*[{[]/.test(text) && typeof JSON.parse(text) === "object"
  } catch {
    return false
  }
}
