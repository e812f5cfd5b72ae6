import type { Exchange } from "../exchange.ts"

/** Fields that the sender of a request generates. They are not in `Exchange.headers` unless a step sets one. */
export const ownFields: readonly string[] = ["host", "content-length"]

/** The parts of an exchange that determine these fields. */
export type OwnFieldsSource = Pick<Exchange, "headers" | "host" | "authority" | "sentLength">

/** The value of one of them by its name, in any letter case: the Host for the backend when a step sets one, and the length of the client's body. */
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

/** All fields including these; names and values alternate. */
export function allFields(source: OwnFieldsSource): string[] {
  const { flat } = source.headers
  const own = ownFields.flatMap((name) => {
    const value = source.headers.get(name) === undefined ? ownField(source, name) : undefined
    return value === undefined ? [] : [name, value]
  })
  return [...own, ...flat]
}
