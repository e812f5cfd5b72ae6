import type { ComponentChildren } from "preact"
import { Badge, type Tone } from "./basic.tsx"
import type { ShownStep } from "./plan-desk.ts"
import { statementOf } from "./statements.ts"

/** A step as its statement in gateway.conf; until that is printed, its kind. */
function StepText({ step }: { readonly step: ShownStep }) {
  const statement = statementOf(step).value ?? String(step["kind"])
  const [word = ""] = /^[a-z-]+/.exec(statement) ?? []
  return (
    <code class="step-text">
      <span class="strong">{word}</span>
      {shortened(statement.slice(word.length))}
    </code>
  )
}

const shownMax = 240

function shortened(text: string): string {
  return text.length > shownMax ? `${text.slice(0, shownMax - 1)}…` : text
}

const sectionNames: Readonly<Record<string, string>> = {
  inbound: "Request",
  backend: "Backend",
  outbound: "Response",
  onError: "On error",
}

/** The heading of a section of steps. */
export function sectionName(name: string): string {
  return sectionNames[name] ?? name
}

/** What lists inside of a step are called in gateway.conf; undefined: they follow the statement without a word. */
export function insideName(name: string): string | undefined {
  if (name === "matched" || name === "steps") return undefined
  return name === "otherwise" ? "else" : name
}

/** One row of a list of steps. */
export function StepRow(props: {
  readonly step: ShownStep
  readonly place: string
  readonly mark?: { readonly tone: Tone; readonly word: string } | undefined
  readonly isFaded?: boolean
  readonly children?: ComponentChildren
}) {
  const { step, place, mark, isFaded, children } = props
  return (
    <li class={isFaded ? "step faded" : "step"}>
      <div class="step-line">
        <StepText step={step} />
        {mark && <Badge tone={mark.tone}>{mark.word}</Badge>}
        {place && <code class="quiet place">{place}</code>}
      </div>
      {children}
    </li>
  )
}
