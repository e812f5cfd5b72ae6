/** What an OpenAPI document describes for a status: the entry for the status, otherwise for its class, otherwise the default; empty when there is none. */
export function describedFor<Item extends { readonly status?: string | undefined }>(
  items: readonly Item[],
  status: number,
): readonly Item[] {
  for (const wanted of [String(status), `${Math.trunc(status / 100)}xx`, "default"]) {
    const found = items.filter((item) => item.status === wanted)
    if (found.length > 0) return found
  }
  return []
}
