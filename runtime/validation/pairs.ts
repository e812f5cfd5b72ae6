/** A decoded name and value of a query or form; `raw` is the encoded value, in which separators are still distinguishable. */
export interface Pair {
  readonly name: string
  readonly raw: string
}

/** The pairs of a query or form (URL Standard §5.1). */
export function pairsOf(text: string): Pair[] {
  return text
    .split("&")
    .filter((each) => each !== "")
    .map((each) => {
      const at = each.indexOf("=")
      return {
        name: decodeText(at === -1 ? each : each.slice(0, at)),
        raw: at === -1 ? "" : each.slice(at + 1),
      }
    })
}

/** Percent-decoded, with `+` as a space; an invalid encoding stays unchanged. */
export function decodeText(raw: string): string {
  return percentDecoded(raw.replaceAll("+", " "))
}

/** Percent-decoded; an invalid encoding stays unchanged. */
export function percentDecoded(raw: string): string {
  if (!raw.includes("%")) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}
