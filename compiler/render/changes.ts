import type { Change } from "../diff/change.ts"

/** Changes for people. */
export function changesText(changes: readonly Change[], _options: { readonly colour: boolean }): string {
  if (changes.length === 0) return "No changes.\n"
  return changes
    .map(({ action, subject, risk }) => `${action} ${subject.kind} ${subject.name} (${risk})\n`)
    .join("")
}

/** Changes for programs: a JSON array, described in compiler/diff/README.md. */
export function changesJson(changes: readonly Change[]): string {
  return `${JSON.stringify(changes, null, 2)}\n`
}
