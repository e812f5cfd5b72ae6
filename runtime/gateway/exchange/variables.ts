import { plainObject } from "../../expression/plain-object.ts"
import { hasMoreValues, jsonValuesDefault } from "../../plan/json-scan.ts"
import type { StoredResponse } from "../../policies/exchange.ts"
import { fieldText } from "../../policies/messages/header-list.ts"
import { isStoredResponse } from "../../policies/messages/stored-response.ts"

/** The variables of an exchange, and as what expressions see them: `var.NAME`. */
export class Variables extends Map<string, unknown> {
  /** Any name may be a variable's. */
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

/** A response as a map: `var.NAME.status`, `.reason`, `.headers["content-type"]`, `.text`, and `.body`, its JSON. What is not asked for is not made. */
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

/** Null for what is no JSON, or more of it than is read: another service's answer is data, and its status says whether it is good. */
function jsonOf(body: Buffer): unknown {
  if (hasMoreValues(body, jsonValuesDefault)) return null
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return null
  }
}
