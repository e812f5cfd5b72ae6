import { Readable } from "node:stream"
import type { FastifyRequest } from "fastify"
import type { AuditContent } from "../store/audit-log.ts"

/** Larger bodies are imports. The feed of changes has their tuples. */
const bodyBytesMax = 65_536
/** A row must not become large: with names of usual length so many tuples are some kilobytes. */
const textsMax = 6_000

/**
 * What a request writes into a store through the engine, as details of its row in the audit log: `tuples`, such as `+user:ann viewer doc:1` and
 * `-user:bob viewer doc:1`, and `more`, the number of those that have no place in a row. Undefined: it writes no tuples, or its body is larger than
 * 64 KB or not what the engine takes. The engine gets the body as it came.
 */
export async function tupleEdits(request: FastifyRequest): Promise<AuditContent | undefined> {
  const { body } = request
  const length = Number(request.headers["content-length"] ?? Number.NaN)
  const isWrite = request.method === "POST" && /^\/authz\/stores\/[^/]+\/write(?:\?|$)/.test(request.url)
  if (!isWrite || !(body instanceof Readable) || !(length <= bodyBytesMax)) return undefined
  const whole = Buffer.concat(await body.toArray())
  request.body = Readable.from([whole])
  return detailsOf(edits(whole.toString("utf8")))
}

function detailsOf(edits: readonly string[]): AuditContent | undefined {
  if (edits.length === 0) return undefined
  const tuples: string[] = []
  let length = 0
  for (const text of edits) {
    length += text.length
    if (length > textsMax) break
    tuples.push(text)
  }
  const more = edits.length - tuples.length
  return { tuples, ...(more === 0 ? {} : { more }) }
}

function edits(text: string): readonly string[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  const signed = (sign: string, list: string) => {
    const given = field(value, list)
    const keys = field(given, "tuple_keys") ?? field(given, "tupleKeys")
    return Array.isArray(keys) ? keys.map((key) => sign + tupleText(key)) : []
  }
  return [...signed("+", "writes"), ...signed("-", "deletes")]
}

/** The engine judges the fields only afterwards, so they may be anything. */
function tupleText(key: unknown): string {
  const text = ["user", "relation", "object"].map((name) => textOf(field(key, name))).join(" ")
  const condition = field(key, "condition") ?? undefined
  return condition === undefined ? text : `${text} with ${textOf(field(condition, "name"))}`
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "?"
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
