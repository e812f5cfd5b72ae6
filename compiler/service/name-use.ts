import type { Span } from "../core/source.ts"

/** A name as a text has it. `name` says what it is a name of, e.g. `backend orders`, `type doc`, `relation doc#viewer`. */
export interface NameUse {
  readonly name: string
  readonly span: Span
  readonly declares: boolean
}
