import type { ComponentChildren } from "preact"
import { CallFailure } from "../client.ts"

/** The head of a page: its title, what it shows, and what can be done with it. */
export function PageHead(props: {
  readonly title: string
  readonly about?: ComponentChildren
  readonly actions?: ComponentChildren
}) {
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1}>{props.title}</h1>
        {props.about && <p class="quiet">{props.about}</p>}
      </div>
      {props.actions && <div class="actions">{props.actions}</div>}
    </header>
  )
}

/** How a badge looks. */
export type Tone = "good" | "warn" | "bad" | "plain"

/** A word for a state. The word says everything: the colour is not needed to read it. */
export function Badge(props: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${props.tone}`}>{props.children}</span>
}

/** A part of a page with a heading. */
export function Panel(props: {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  readonly class?: string
}) {
  return (
    <section class={`panel ${props.class ?? ""}`} aria-label={props.title}>
      <div class="panel-head">
        <h2>{props.title}</h2>
        {props.aside && <div class="quiet">{props.aside}</div>}
      </div>
      {props.children}
    </section>
  )
}

/** A message in which names, text of gateway.conf and commands are between backticks. */
export function Message({ text }: { readonly text: string }) {
  const parts = text.split("`")
  // Without a partner the last backtick is a character like others.
  if (parts.length % 2 === 0) return <>{text}</>
  return <>{parts.map((part, at) => (at % 2 === 0 ? part : <code key={`${at} ${part}`}>{part}</code>))}</>
}

/** What is shown where there is nothing, and what to do about it. */
export function Empty(props: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children && <div class="quiet">{props.children}</div>}
    </div>
  )
}

/** Why something could not be shown. */
export function Failed(props: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  const { error, retry } = props
  const text = error instanceof Error ? error.message : String(error)
  const problems = error instanceof CallFailure ? (error.problem?.problems ?? []) : []
  return (
    <div class="notice bad" role="alert">
      <p>
        <Message text={text} />
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ path, message, origin }) => (
            <li key={path + message}>
              {origin && <code>{origin}</code>} <Message text={message} />
            </li>
          ))}
        </ul>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Shown while something is loaded. */
export function Loading() {
  return (
    <p class="quiet loading" role="status">
      Loading …
    </p>
  )
}

/** A form field with its label, and what is wrong with it. */
export function Field(props: {
  readonly label: string
  readonly id: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly children: ComponentChildren
}) {
  return (
    <div class="field">
      <label for={props.id}>{props.label}</label>
      {props.children}
      {props.hint && (
        <p class="quiet hint" id={`${props.id}-hint`}>
          {props.hint}
        </p>
      )}
      {props.error && (
        <p class="field-error" role="alert">
          {props.error}
        </p>
      )}
    </div>
  )
}

/** A name and its value in a list of facts. */
export function Fact({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>{String(value)}</code>
      </dd>
    </div>
  )
}

/** Names with their values. Those without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: unknown])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value], at) =>
        value === undefined || value === null ? null : (
          <Fact key={`${at} ${name}`} name={name} value={value} />
        ),
      )}
    </dl>
  )
}

/** Something wider than a phone. It can be focused, so that the keyboard scrolls it. */
export function Scroll(props: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard does not reach what is outside of the view (WCAG 2.1.1).
    <section class="scroll" tabIndex={0} aria-label={props.label}>
      {props.children}
    </section>
  )
}

/** A column of a table: its head, right-aligned for numbers. */
export type Column = string | { readonly number: string }

/** A table that scrolls by itself when it is wider than the page. `children`: its rows. */
export function Table(props: {
  readonly label: string
  readonly columns: readonly Column[]
  readonly class?: string
  readonly children: ComponentChildren
}) {
  return (
    <Scroll label={props.label}>
      <table class={props.class}>
        <thead>
          <tr>
            {props.columns.map((each) =>
              typeof each === "string" ? (
                <th key={each}>{each}</th>
              ) : (
                <th key={each.number} class="number">
                  {each.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </Scroll>
  )
}
