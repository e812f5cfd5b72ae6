import { toJson } from "../../expression/compile.ts"
import { isPlainObject } from "../../expression/plain-object.ts"
import type { StoredResponse } from "../exchange.ts"
import { HeaderList } from "../messages/header-list.ts"
import type { AzureWing } from "../policy.ts"

/** Encodes a response: the length of its head, the head as JSON, the body. */
export function encodeResponse({ status, reason, headers, body }: StoredResponse): Buffer {
  const head = Buffer.from(JSON.stringify([status, reason, headers.flat]))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, body])
}

/** The inverse; undefined for bytes in another format. */
export function decodeResponse(bytes: Buffer): StoredResponse | undefined {
  try {
    const end = 4 + bytes.readUInt32BE(0)
    const [status, reason, flat] = JSON.parse(bytes.toString("utf8", 4, end)) as [number, string, string[]]
    return { status, reason, headers: new HeaderList(flat), body: bytes.subarray(end) }
  } catch {
    return undefined
  }
}

/**
 * Encodes the value of an expression; `azure` handles C# objects.
 * @throws ExpressionError for a value that cannot be used outside the exchange
 */
export function encodeValue(value: unknown, azure: AzureWing | undefined): Buffer {
  if (typeof value === "string") return Buffer.from(`s${value}`)
  if (value instanceof Uint8Array) return Buffer.concat([Buffer.from("b"), value])
  return Buffer.from(`j${JSON.stringify(value ?? null, taken(azure))}`)
}

/** The inverse; undefined for bytes in another format, and for a C# object when the plan has no other C#. */
export function decodeValue(bytes: Buffer, azure: AzureWing | undefined): unknown {
  const form = String.fromCharCode(bytes[0] ?? 0)
  if (form === "s") return bytes.toString("utf8", 1)
  if (form === "b") return bytes.subarray(1)
  if (form !== "j") return undefined
  try {
    return JSON.parse(bytes.toString("utf8", 1), given(azure))
  } catch {
    return undefined
  }
}

const tag = "\u0000"

type Replace = (name: string, value: unknown) => unknown

/** Whole numbers, maps and C# objects have no JSON form: they are stored under a tag that no name in a message's JSON begins with. */
function taken(azure: AzureWing | undefined): Replace {
  return (_, value) => {
    if (typeof value === "bigint") return { [`${tag}int`]: value.toString() }
    if (value instanceof Uint8Array) return { [`${tag}bytes`]: Buffer.from(value).toString("base64") }
    if (value instanceof Map) return { [`${tag}map`]: [...value] }
    if (typeof value !== "object" || value === null || Array.isArray(value) || isPlainObject(value))
      return value
    const kept = azure?.keep(value)
    return kept === undefined ? toJson(value) : { [`${tag}kept`]: kept }
  }
}

/** Restores the values that JSON has no form for. */
function given(azure: AzureWing | undefined): Replace {
  return (_, value) => {
    if (typeof value !== "object" || value === null) return value
    const tagged = value as Record<string, unknown>
    const { [`${tag}int`]: int, [`${tag}bytes`]: bytes, [`${tag}map`]: map, [`${tag}kept`]: kept } = tagged
    if (typeof int === "string") return BigInt(int)
    if (typeof bytes === "string") return Buffer.from(bytes, "base64")
    if (Array.isArray(map)) return new Map(map as [unknown, unknown][])
    if (typeof kept !== "object" || kept === null) return value
    if (azure === undefined)
      throw new Error("the cached value was stored by a plan with C#, and this plan has no C#")
    return azure.restore(kept)
  }
}

/** The key of a value. Values and responses share the cache, and no response has such a key. */
export function valueKey(key: string): string {
  return `value ${key}`
}
