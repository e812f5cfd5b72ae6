import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import type { Word } from "../ast.ts"
import type { Program } from "../program.ts"

interface Use {
  readonly name: string
  readonly span: Span
  readonly owner: keyof typeof words
}

const words = { subscription: "the key of a subscription", engine: "a key of the engine" } as const

/**
 * Secrets that are used as keys. A key alone identifies the caller, so each key must belong to one caller. This is also checked for two
 * secrets that are read from the same place, and for a subscription's key that would open the engine.
 */
export class KeyUses {
  readonly #program: Program
  readonly #report: Report
  readonly #uses = new Map<string, Use>()

  constructor(program: Program, report: Report) {
    this.#program = program
    this.#report = report
  }

  /** Records a use of a key, or reports it when another caller has the same key. */
  add({ text: name, span }: Word, owner: Use["owner"]): void {
    const from = this.#program.find("secret", name)?.bound.args.value<object>("outside")
    const source = from === undefined ? name : JSON.stringify(from)
    const earlier = this.#uses.get(source)
    if (earlier === undefined) {
      this.#uses.set(source, { name, span, owner })
      return
    }
    const whose = words[earlier.owner]
    const detail =
      earlier.name === name
        ? `\`${name}\` is already ${whose}`
        : `\`${name}\` is read from the same place as \`${earlier.name}\`, which is ${whose}`
    this.#report.add("SP3017", span, detail, { related: [{ span: earlier.span, message: "the other use" }] })
  }
}
