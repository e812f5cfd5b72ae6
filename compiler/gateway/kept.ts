import type { Report } from "../core/diagnostic.ts"
import { SourceFile } from "../core/source.ts"
import type { Document } from "./ast.ts"
import { KeptBindings } from "./bind/kept-bindings.ts"
import type { KeptNames } from "./check/names.ts"
import { KeptReads } from "./kept-reads.ts"
import { KeptUnits } from "./kept-units.ts"
import type { Program } from "./program.ts"
import type { Additions } from "./recorder.ts"
import { type ParsedFile, parseAgain, parseFile } from "./reparse.ts"
import { surroundingsOf } from "./surroundings.ts"

/**
 * What the compilations of a project in an editor keep for the next one. A part of it is used again only if everything it was made of has
 * the same text, so findings never depend on earlier texts. It holds nothing besides what the present text needs. Trees of earlier
 * compilations move with the text: use one result at a time.
 */
export class KeptParts {
  readonly bindings = new KeptBindings()
  /** What an operation was lowered to. */
  readonly lowered = new KeptUnits()
  /** OpenAPI documents as read. */
  readonly reads = new KeptReads()
  readonly #names = new KeptUnits()
  readonly #files = new Map<string, SourceFile>()
  readonly #parsed = new WeakMap<SourceFile, ParsedFile>()

  /** The file that an earlier compilation made, with this text, or a new one: what is known of a file is kept by the file. */
  readonly fileOf = (path: string, text: string): SourceFile => {
    const known = this.#files.get(path)
    if (known?.text === text) return known
    const parsed = known === undefined ? undefined : this.#parsed.get(known)
    const again = parsed === undefined ? undefined : parseAgain(parsed, text)
    const file = again?.document.file ?? new SourceFile(path, text)
    if (again !== undefined) this.#parsed.set(file, again)
    this.#files.set(path, file)
    return file
  }

  /** The file parsed, as far as possible by an earlier compilation. */
  readonly parse = (file: SourceFile, report: Report): Document => {
    const parsed = this.#parsed.get(file) ?? parseFile(file)
    this.#parsed.set(file, parsed)
    report.addAll(parsed.findings)
    return parsed.document
  }

  /** The file of gateway.conf with this path, as the newest compilation parsed it. */
  parsedFile(path: string): ParsedFile | undefined {
    const file = this.#files.get(path)
    return file === undefined ? undefined : this.#parsed.get(file)
  }

  /** Checks the names of operations that have changed, and adds what checking the others added. */
  namesIn(program: Program, report: Report): KeptNames | undefined {
    const { recorder } = program
    if (recorder === undefined) return undefined
    this.#names.begin(surroundingsOf(program))
    // Names need only the program.
    const nothing = () => undefined
    const to: Additions = {
      program,
      values: { need: nothing, needSecret: nothing },
      steps: { put: nothing },
      backends: { useDeclared: () => false, addInline: nothing },
      expressions: { see: nothing },
      validation: { tellUnjudged: nothing },
      describedAuth: { tellUnmet: nothing },
    }
    return (operation, check) => this.#names.once(operation, { as: "" }, { recorder, report, to }, check)
  }

  /** Makes everything of operations anew. */
  forgetUnits(): void {
    this.#names.forget()
    this.lowered.forget()
  }
}
