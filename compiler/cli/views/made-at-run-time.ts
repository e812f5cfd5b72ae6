import { visible } from "../../render/width.ts"
import type { MadeThing } from "../made-at-run-time.ts"
import { type MadeKind, madeKinds } from "../made-kinds.ts"

const namesShown = 5

const commands: Readonly<Record<MadeKind, string>> = {
  subscriptions: "sallyport subscription delete",
  stores: "DELETE /authz/stores/{id}",
  tokens: "sallyport control-token revoke",
}

/** What was made through the APIs and is in no text. No apply removes it without `--remove`. Empty without any. */
export function madeText(made: ReadonlyMap<MadeKind, readonly MadeThing[]>): string {
  const lines = linesOf(made, (kind) => ` (\`${commands[kind]}\`)`, namesShown)
  return lines === ""
    ? ""
    : `\nMade at run time, not in the text. \`apply\` keeps it; to remove it:\n${lines}`
}

/** Everything that `--remove` deletes, by name. */
export function removalText(things: readonly MadeThing[]): string {
  const made = new Map(madeKinds.map((kind) => [kind, things.filter((each) => each.kind === kind)]))
  const lines = linesOf(made, () => "", Number.POSITIVE_INFINITY)
  return lines === ""
    ? "\n`apply --remove` deletes nothing: nothing of these kinds was made at run time.\n"
    : `\n\`apply --remove\` deletes, with everything in it:\n${lines}`
}

function linesOf(
  made: ReadonlyMap<MadeKind, readonly MadeThing[]>,
  remedy: (kind: MadeKind) => string,
  most: number,
): string {
  return madeKinds
    .flatMap((kind) => {
      const names = (made.get(kind) ?? []).map(({ name }) => name)
      return names.length === 0 ? [] : [`  ${kind.padEnd(13)}  ${namesText(names, most)}${remedy(kind)}\n`]
    })
    .join("")
}

function namesText(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).map(visible).join(", ")
  return names.length > most ? `${shown} and ${names.length - most} more` : shown
}
