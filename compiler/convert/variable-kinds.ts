import type { Step, StepOf } from "../../runtime/plan/steps.ts"
import type { Section } from "../policy/site.ts"
import { toCel } from "./csharp-to-cel.ts"
import { unique, valueName } from "./names.ts"
import { type Around, NoCounterpart, type VariableKind } from "./translation.ts"

/** What puts something into a variable: the value, or the kind of what comes from elsewhere. */
type Setter =
  | { readonly section: Section; readonly value: StepOf<"set-variable">["value"] }
  | { readonly kind: VariableKind["kind"] }

const dynamic: VariableKind = { kind: "dyn", nullable: true }

/** The variables of a document: how they are called in gateway.conf, and what is in them. */
export class Variables {
  readonly #setters = new Map<string, Setter[]>()
  readonly #kinds = new Map<string, VariableKind>()
  readonly #names = new Map<string, string>()
  readonly #lost: ReadonlySet<string>
  /** What policies that have been gone through change. */
  readonly changes = new Set<string>()
  readonly parameters = new Set<string>()

  /** `lost`: variables some of whose setters are left out, so that nobody knows what is in them. */
  constructor(lost: ReadonlySet<string>) {
    this.#lost = lost
  }

  /** A step of the document, before anything is translated. */
  see(step: Step, section: Section): void {
    for (const name of variablesSetBy(step)) {
      const setter: Setter =
        step.kind === "set-variable"
          ? { section, value: step.value }
          : {
              kind:
                step.kind === "send-request" ? "response" : step.kind === "authenticate" ? "string" : "dyn",
            }
      this.#setters.set(name, [...(this.#setters.get(name) ?? []), setter])
    }
  }

  /** Those whose name gateway.conf can't have, and what they are called there. */
  renamed(): ReadonlyMap<string, string> {
    const all = [...this.#setters.keys()].map(
      (name) => [name, unique(this.#names, name, valueName(name))] as const,
    )
    return new Map(all.filter(([name, other]) => name !== other))
  }

  around(section: Section): Around {
    return {
      section,
      changes: this.changes,
      nameOf: (name) => unique(this.#names, name, valueName(name)),
      unreadable: () => [...this.renamed().keys(), ...this.#lost],
      parameter: (name) => this.parameters.add(name),
      variable: (name) => {
        if (!this.#setters.has(name) || this.#lost.has(name)) return undefined
        return { ...this.#kindOf(name), name: unique(this.#names, name, valueName(name)) }
      },
    }
  }

  #kindOf(name: string): VariableKind {
    const known = this.#kinds.get(name)
    if (known !== undefined) return known
    // What is asked for while it is being found out reads itself.
    this.#kinds.set(name, dynamic)
    const kinds = (this.#setters.get(name) ?? []).flatMap((setter) => this.#kindOfSetter(setter) ?? [])
    const [first = dynamic, ...more] = kinds
    const nullable = kinds.some((kind) => kind.nullable)
    const made = more.every(({ kind }) => kind === first.kind) ? { kind: first.kind, nullable } : dynamic
    this.#kinds.set(name, made)
    return made
  }

  /** Undefined for one that has no counterpart: calls end where it stands. */
  #kindOfSetter(setter: Setter): VariableKind | undefined {
    if ("kind" in setter) return { kind: setter.kind, nullable: setter.kind !== "string" }
    const { value, section } = setter
    if (typeof value === "string" || "text" in value) return { kind: "string", nullable: false }
    const { expression } = value
    if (expression.lang !== "cs") return dynamic
    try {
      const { kind, nullable } = toCel(expression.program, this.around(section))
      return kind === "string" || kind === "bool" || kind === "int" ? { kind, nullable } : dynamic
    } catch (error) {
      if (!(error instanceof NoCounterpart)) throw error
      return section === "on-error" ? dynamic : undefined
    }
  }
}

/** The variables a step leaves something in. */
export function variablesSetBy(step: Step): string[] {
  const fields = step as unknown as Readonly<Record<string, unknown>>
  const names = step.kind === "set-variable" ? [step.name] : []
  for (const field of ["variable", "output", "errors"]) {
    const name = fields[field]
    if (typeof name === "string") names.push(name)
  }
  for (const [field, name] of Object.entries(fields))
    if (field.endsWith("Variable") && typeof name === "string") names.push(name)
  return names
}
