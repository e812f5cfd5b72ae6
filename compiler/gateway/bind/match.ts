import type { Argument } from "../ast.ts"
import type { ArgumentPattern, Form, Slot, StatementRow } from "../schema/row.ts"
import { accepts, expectedOf } from "../schema/slots.ts"

/** Arguments assigned to slots. `failure` says where the pattern stopped matching and what was expected there. */
export interface Matched {
  readonly form: Form
  readonly slots: readonly (readonly [Slot, Argument])[]
  readonly failure: Failure | undefined
  /** Maximum number of arguments, for slots that take several. */
  readonly budgets: ReadonlyMap<string, number>
}

/** `at` is the index of the argument that does not match, or the number of arguments if one is missing. */
export interface Failure {
  readonly at: number
  readonly expected: readonly string[]
  /** The fixed words among the expected arguments, for "did you mean". */
  readonly words: readonly string[]
}

/** What may follow the arguments of a statement: fixed words and slots. */
export interface NextArguments {
  readonly words: readonly string[]
  readonly slots: readonly Slot[]
}

/** What may follow these arguments, in the forms of the row that they fit so far. */
export function nextArguments(row: StatementRow, args: readonly Argument[]): NextArguments {
  const found = row.forms.map((form) => new Matcher(form, args).next())
  return { words: unique(found.flatMap(({ words }) => words)), slots: found.flatMap(({ slots }) => slots) }
}

/** Finds the form of the row that matches these arguments. If none matches, returns the failure of the form that matched furthest. */
export function matchArguments(row: StatementRow, args: readonly Argument[]): Matched {
  let best: Matched | undefined
  const failures: Failure[] = []
  for (const form of row.forms) {
    const matched = new Matcher(form, args).match()
    if (matched.failure === undefined) return matched
    failures.push(matched.failure)
    if (best?.failure === undefined || matched.failure.at > best.failure.at) best = matched
  }
  const chosen = best as Matched
  const at = chosen.failure?.at ?? 0
  const ties = failures.filter((failure) => failure.at === at)
  const failure = {
    at,
    expected: unique(ties.flatMap((each) => each.expected)),
    words: unique(ties.flatMap((each) => each.words)),
  }
  return { ...chosen, failure }
}

/**
 * Matches one form without backtracking: the first word of each alternative decides, so the finding can name what is expected at the
 * argument that fails.
 */
class Matcher {
  readonly #form: Form
  readonly #args: readonly Argument[]
  readonly #slots: [Slot, Argument][] = []
  readonly #budgets = new Map<string, number>()
  #at = 0
  #expected: string[] = []
  #words: string[] = []
  /** The slots among the expected arguments. */
  #open: Slot[] = []

  constructor(form: Form, args: readonly Argument[]) {
    this.#form = form
    this.#args = args
  }

  match(): Matched {
    const fits = this.#sequence(this.#form.args) && this.#at === this.#args.length
    const failure = fits
      ? undefined
      : { at: this.#at, expected: unique(this.#expected), words: unique(this.#words) }
    return { form: this.#form, slots: this.#slots, failure, budgets: this.#budgets }
  }

  next(): NextArguments {
    this.#sequence(this.#form.args)
    const fits = this.#at === this.#args.length
    return fits ? { words: this.#words, slots: this.#open } : { words: [], slots: [] }
  }

  #sequence(parts: readonly ArgumentPattern[]): boolean {
    return parts.every((part) => this.#part(part))
  }

  /** One part of the pattern. An optional part that begins must fit as a whole. */
  #part(part: ArgumentPattern): boolean {
    if ("word" in part) return this.#word(part.word)
    if ("slot" in part) return this.#slot(part)
    if ("optional" in part) return !this.#starts(part.optional) || this.#sequence(part.optional)
    if ("many" in part) {
      this.#budgets.set(part.many.slot, part.atMost)
      return this.#many(part.many, part.between)
    }
    const chosen = part.oneOf.find((alternative) => this.#starts(alternative))
    return chosen !== undefined && this.#sequence(chosen)
  }

  /** One or more arguments of a slot, separated by a word (`between`) or by nothing. */
  #many(slot: Slot, between: string | undefined): boolean {
    if (!this.#slot(slot)) return false
    if (between === undefined) {
      while (this.#starts([slot])) this.#slot(slot)
      return true
    }
    while (this.#starts([{ word: between }])) {
      if (!this.#word(between) || !this.#slot(slot)) return false
    }
    return true
  }

  #word(text: string): boolean {
    if (!this.#starts([{ word: text }])) return false
    this.#advance()
    return true
  }

  #slot(slot: Slot): boolean {
    if (!this.#starts([slot])) return false
    this.#slots.push([slot, this.#args[this.#at] as Argument])
    this.#advance()
    return true
  }

  #advance(): void {
    this.#at++
    this.#expected = []
    this.#words = []
    this.#open = []
  }

  /** Whether the next argument can begin these parts. If not, records what was expected there. */
  #starts(parts: readonly ArgumentPattern[]): boolean {
    const first = parts[0]
    if (first === undefined) return false
    const argument = this.#args[this.#at]
    if ("word" in first) {
      if (argument?.kind === "word" && argument.text === first.word) return true
      this.#expected.push(`\`${first.word}\``)
      this.#words.push(first.word)
      return false
    }
    if ("optional" in first) return this.#starts(first.optional) || this.#starts(parts.slice(1))
    if ("oneOf" in first) return first.oneOf.some((alternative) => this.#starts(alternative))
    const slot = "many" in first ? first.many : first
    if (argument !== undefined && accepts(slot, argument)) return true
    if (slot.refused === true) return false
    this.#expected.push(expectedOf(slot))
    this.#open.push(slot)
    return false
  }
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)]
}
