import type { Policy } from "../policy.ts"
import { headersOf } from "./set-header.ts"

/** Renames the lines of a header. */
export const renameHeader: Policy<"rename-header"> =
  ({ message, from, to }) =>
  (exchange) => {
    const headers = headersOf(message, exchange)
    if (headers.get(from) === undefined || from === to) return undefined
    headers.remove(to)
    const { flat } = headers
    for (let at = 0; at < flat.length; at += 2) if (flat[at] === from) flat[at] = to
    return undefined
  }
