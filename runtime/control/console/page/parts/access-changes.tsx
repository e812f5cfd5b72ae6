import type { AccessChange } from "../../../../check/access-change.ts"
import { counted } from "../format.ts"
import { Badge, type Tone } from "./basic.tsx"

/** Kinds of changes of access, the most certain first. */
export const accessChanges = ["gains", "loses", "may-gain", "may-lose", "undecided"] as const

const words: Readonly<Record<AccessChange | "unchanged", readonly [text: string, tone: Tone]>> = {
  gains: ["gains", "good"],
  loses: ["loses", "bad"],
  "may-gain": ["may gain", "warn"],
  "may-lose": ["may lose", "warn"],
  undecided: ["undecided", "plain"],
  unchanged: ["keeps", "plain"],
}

/** What becomes of somebody's access, in a word. */
export function AccessBadge({ change }: { readonly change: AccessChange | "unchanged" }) {
  const [text, tone] = words[change]
  return <Badge tone={tone}>{text}</Badge>
}

/** Rows of everybody of a type and of groups, which change as a whole, never as a list of their members. `exceptions`: accesses that a change of everybody does not concern. */
export function WholeChanges(props: {
  readonly everyone: readonly {
    readonly type: string
    readonly change: AccessChange
    readonly objects: number
  }[]
  readonly groups: readonly {
    readonly set: string
    readonly users: number
    readonly change: AccessChange
    readonly objects: number
  }[]
  readonly exceptions: number
}) {
  const { everyone, groups, exceptions } = props
  return (
    <>
      {everyone.map(({ type, change, objects }) => (
        <li key={`${type} ${change}`}>
          <AccessBadge change={change} /> everybody of type <code>{type}</code>, on{" "}
          {counted(objects, "object")}
          {exceptions > 0 && <span class="quiet">, with {counted(exceptions, "exception")}</span>}
        </li>
      ))}
      {groups.map(({ set, users, change, objects }) => (
        <li key={`${set} ${change}`}>
          <AccessBadge change={change} /> everybody in <code>{set}</code> ({counted(users, "user")}), on{" "}
          {counted(objects, "object")}
        </li>
      ))}
    </>
  )
}
