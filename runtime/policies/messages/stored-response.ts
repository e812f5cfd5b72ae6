import type { Exchange, StoredResponse } from "../exchange.ts"
import { HeaderList } from "./header-list.ts"

/** The response that a step stored in a variable. */
export function storedResponse(exchange: Exchange, name: string): StoredResponse | undefined {
  const value = exchange.variables.get(name)
  return isStoredResponse(value) ? value : undefined
}

/** Whether a value is a response that is held in memory. */
export function isStoredResponse(value: unknown): value is StoredResponse {
  return (
    typeof value === "object" &&
    value !== null &&
    "headers" in value &&
    value.headers instanceof HeaderList &&
    "body" in value &&
    value.body instanceof Buffer
  )
}
