import type { Exchange } from "../exchange.ts"

/** Fields of a request that are no part of `Exchange.headers` until a step puts one there, because whoever sends it makes them. */
export const ownFields: readonly string[] = ["host", "content-length"]

/** What of an exchange they come from. */
export type OwnFieldsSource = Pick<Exchange, "headers" | "host" | "authority" | "sentLength">

/** One of them by its name, in any letter case: the Host the backend is told, where a step says one, and how long the client's body is. */
export function ownField(
  { headers, host, authority, sentLength }: OwnFieldsSource,
  name: string,
): string | undefined {
  if (name.length === 4 && name.toLowerCase() === "host")
    return headers.get("host") ?? (host || authority || undefined)
  if (name.length === 14 && name.toLowerCase() === "content-length")
    return headers.get("content-length") ?? sentLength?.toString()
  return undefined
}

/** All fields in names and values in turn, these among them. */
export function allFields(source: OwnFieldsSource): string[] {
  const { flat } = source.headers
  const own = ownFields.flatMap((name) => {
    const value = source.headers.get(name) === undefined ? ownField(source, name) : undefined
    return value === undefined ? [] : [name, value]
  })
  return [...own, ...flat]
}
