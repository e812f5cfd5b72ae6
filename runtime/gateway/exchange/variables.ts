import { plainObject } from "../../expression/plain-object.ts"
import { hasMoreValues, jsonValuesDefault } from "../../plan/json-scan.ts"
import type { StoredResponse } from "../../policies/exchange.ts"
import { fieldText } from "../../policies/messages/header-list.ts"
import { isStoredResponse } from "../../policies/messages/stored-response.ts"

/** The variables of an exchange, also in the form that expressions see: `var.NAME`. */
export class Variables extends Map<string, unknown> {
  /** Without a prototype: any name may be a variable. */
  readonly view = plainObject<unknown>()

  override set(name: string, value: unknown): this {
    this.view[name] = isStoredResponse(value) ? responseMap(value) : value
    return super.set(name, value)
  }

  override delete(name: string): boolean {
    delete this.view[name]
    return super.delete(name)
  }
}

/** A response as a map: `var.NAME.status`, `.reason`, `.headers["content-type"]`, `.text`, and `.body` with its JSON. Members are computed on access. */
function responseMap({ status, reason, headers, body }: StoredResponse): object {
  let json: unknown
  return {
    status: BigInt(status),
    reason,
    get headers() {
      const named: Record<string, string> = {}
      for (let at = 0; at < headers.flat.length; at += 2) {
        const name = headers.flat[at] as string
        const value = fieldText(headers.flat[at + 1] as string)
        named[name] = name in named ? `${named[name]}, ${value}` : value
      }
      return named
    },
    get text() {
      return body.toString("utf8")
    },
    get body() {
      json ??= jsonOf(body)
      return json
    },
  }
}

/** Null for invalid or too large JSON: the response of another service is data, and its status shows whether it succeeded. */
function jsonOf(body: Buffer): unknown {
  if (hasMoreValues(body, jsonValuesDefault)) return null
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return null
  }
}
