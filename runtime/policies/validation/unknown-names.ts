import type { Action } from "./violations.ts"

/**
 * Parameters or fields that are not described, each with its action; ignored ones are left out, duplicates too, at most 20. `names` is called only
 * when some name may matter.
 */
export type Unknown = (names: () => readonly string[]) => readonly { name: string; action: Action }[]

const shownMax = 20
const charactersMax = 100

/** `named`: actions for some names, in any letter case; all others get `byDefault`. */
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
    // Names to prevent come first, so that twenty detected names cannot hide them.
    const of = (wanted: Action) => found.filter(({ action }) => action === wanted)
    return [...of("prevent"), ...of("detect")].slice(0, shownMax)
  }
}
