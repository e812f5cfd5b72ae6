import type { PlanChangesAnswer } from "../../../api.ts"
import { counted } from "../format.ts"
import { addressOf } from "../router.ts"
import { Badge, Empty, Message, Panel, type Tone } from "./basic.tsx"

/** One change of a plan. */
export type PlanChange = PlanChangesAnswer["changes"][number]
/** A class of changes that somebody must have read. */
export type Danger = PlanChange["classes"][number]

/** The classes, the most dangerous first. */
export const dangers: readonly (readonly [name: Danger, tone: Tone, about: string])[] = [
  ["opens", "bad", "more is allowed than before"],
  ["breaking", "warn", "requests that worked may fail"],
  ["closes", "warn", "less is allowed than before"],
]

/** The classes that these changes have. */
export function dangersOf(changes: readonly PlanChange[]): readonly Danger[] {
  return dangers.map(([name]) => name).filter((name) => changes.some(({ classes }) => classes.includes(name)))
}

/** What reviewers read: the number of changes of each class, then each change in one line, the dangerous ones first. */
export function PlanChanges({ answer }: { readonly answer: PlanChangesAnswer }) {
  const sorted = [...answer.changes].sort((one, other) => rank(one) - rank(other))
  return (
    <Panel
      title={answer.from === null ? "Changes" : `Changes since plan ${answer.from}`}
      aside={counted(answer.changes.length, "change")}
    >
      {answer.from === null ? (
        <Empty title="It is the first plan of the history" />
      ) : sorted.length === 0 ? (
        <Empty title="Nothing changes" />
      ) : (
        <>
          <Summary changes={sorted} />
          <ul class="changes">
            {sorted.map((each, at) => (
              <ChangeLine key={`${at} ${each.text}`} change={each} />
            ))}
          </ul>
          {answer.cut && <p class="quiet">There are more changes; `sallyport diff` shows all.</p>}
        </>
      )}
    </Panel>
  )
}

function rank({ classes }: PlanChange): number {
  const first = dangers.findIndex(([name]) => classes.includes(name))
  return first === -1 ? dangers.length : first
}

function Summary({ changes }: { readonly changes: readonly PlanChange[] }) {
  return (
    <p class="summary">
      {dangers.map(([name, tone, about]) => {
        const count = changes.filter(({ classes }) => classes.includes(name)).length
        return (
          <span key={name}>
            <Badge tone={count === 0 ? "plain" : tone}>
              {count} {name}
            </Badge>{" "}
            <span class="quiet">{about}</span>
          </span>
        )
      })}
    </p>
  )
}

function ChangeLine({ change: { classes, routes, text } }: { readonly change: PlanChange }) {
  return (
    <li>
      <span class="change-classes">
        {classes.length === 0 ? <Badge tone="plain">neutral</Badge> : null}
        {dangers
          .filter(([name]) => classes.includes(name))
          .map(([name, tone]) => (
            <Badge key={name} tone={tone}>
              {name}
            </Badge>
          ))}
      </span>
      <span class="change-text">
        <Message text={text} />
      </span>
      {routes.length > 0 && (
        <details>
          <summary>{counted(routes.length, "route")}</summary>
          <ul class="plain-list">
            {routes.map((key) => (
              <li key={key}>
                <a href={addressOf(["routes", key])}>
                  <code>{key}</code>
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}
