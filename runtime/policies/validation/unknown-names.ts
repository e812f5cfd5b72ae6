import type { Action } from "./violations.ts"

/** Parameters or fields that nothing describes, with what is done about each: those that matter, each once, at most 20. `names` is asked only where some may matter. */
export type Unknown = (names: () => readonly string[]) => readonly { name: string; action: Action }[]

const shownMax = 20
const charactersMax = 100

/** `named`: what is done about some names, in any letter case; about all others `byDefault` is. */
export function unknownNames(
  named: readonly { readonly name: string; readonly action: Action }[],
  byDefault: Action,
): Unknown {
  const actions = new Map(named.map(({ name, action }) => [name.toLowerCase(), action]))
  if (byDefault === "ignore" && [...actions.values()].every((action) => action === "ignore")) return () => []
  return (names) => {
    const found = [...new Set(names())].map((name) => ({
      name: name.slice(0, charactersMax),
      action: actions.get(name.toLowerCase()) ?? byDefault,
    }))
    // Names to prevent come first: a request with twenty others must not get past them.
    const of = (wanted: Action) => found.filter(({ action }) => action === wanted)
    return [...of("prevent"), ...of("detect")].slice(0, shownMax)
  }
}
