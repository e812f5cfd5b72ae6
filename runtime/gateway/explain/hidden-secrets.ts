/** Replaces the values of secrets in a text by their names. `secrets`: values by name. Values are also found percent-encoded, as in a query. */
export function hideSecrets(text: string, secrets: ReadonlyMap<string, string>): string {
  let shown = text
  // A longer secret may contain a shorter one.
  // It was read as UTF-8, so it has no lone surrogates.
  for (const [name, value] of [...secrets].sort(([, a], [, b]) => b.length - a.length))
    for (const form of new Set([value, encodeURIComponent(value)]))
      if (form !== "") shown = shown.replaceAll(form, `[secret ${name}]`)
  return shown
}
