/** What an OpenAPI document says for a status: what names it, else its class, else what is for all others; the list is empty where nothing does. */
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
