import type { ComponentChildren } from "preact"
import { Badge, type Tone } from "./basic.tsx"

/** A value of a plan as people write it: templates and expressions as `${…}`, names and numbers as they are, everything else as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value
  if (value === null || typeof value !== "object") return String(value)
  if (Array.isArray(value)) return value.map(valueText).join(", ")
  const fields = value as Readonly<Record<string, unknown>>
  const { text, expression, lang } = fields
  if (Array.isArray(text) && Object.keys(fields).length === 1) return text.map(valueText).join("")
  if (expression !== undefined) return `\${${valueText(expression)}}`
  if (typeof text === "string" && lang === "cel") return text
  if (lang === "cs") return "C#"
  return Object.entries(fields)
    .filter(([, each]) => !isEmpty(each))
    .map(([name, each]) => `${name} ${valueText(each)}`)
    .join(" ")
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)
  )
}

/** The kind of a step and its fields. It knows no kind by name, so a new one is shown as well. */
export function StepText({ step }: { readonly step: Readonly<Record<string, unknown>> }) {
  const fields = Object.entries(step).filter(([name, value]) => name !== "kind" && !isEmpty(value))
  return (
    <span class="step-text">
      <span class="strong">{valueText(step["kind"])}</span>{" "}
      {fields.map(([name, value]) => (
        <span key={name} class="step-field">
          <span class="quiet">{name}</span>
          {value === true ? (
            ""
          ) : (
            <>
              {" "}
              <code>{shortened(valueText(value))}</code>
            </>
          )}
        </span>
      ))}
    </span>
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

/** One row of a list of steps. */
export function StepRow(props: {
  readonly step: Readonly<Record<string, unknown>>
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
