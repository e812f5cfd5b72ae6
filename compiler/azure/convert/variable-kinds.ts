import type { TextOrExpression } from "../../../runtime/plan/step-values.ts"
import type { Step } from "../../../runtime/plan/steps.ts"
import { variablesSetBy } from "../../../runtime/plan/steps.ts"
import type { Element } from "../ast.ts"
import type { DocumentSection } from "../site.ts"
import type { CheckedTokens } from "./checked-tokens.ts"
import { toCel } from "./csharp-to-cel.ts"
import { unique, valueName } from "./names.ts"
import { type Around, madeOr, type VariableKind } from "./translation.ts"

/** An assignment of a variable: the value, or the kind of a value from another source. */
type Setter =
  | { readonly section: DocumentSection; readonly value: TextOrExpression }
  | { readonly kind: VariableKind["kind"] }

/** Steps that always set their variable when requests continue, possibly to null. */
const alwaysSetting: ReadonlySet<Step["kind"]> = new Set([
  "set-variable",
  "send-request",
  "authenticate",
  "validate-jwt",
])

const dynamic: VariableKind = { kind: "dyn", nullable: true }

/** The variables of a document: their names in gateway.conf, and the kinds of their values. */
export class DocumentVariables {
  readonly #setters = new Map<string, Setter[]>()
  readonly #kinds = new Map<string, VariableKind>()
  readonly #names = new Map<string, string>()
  readonly #lost: ReadonlySet<string>
  readonly #checked: CheckedTokens
  /** Variables that every request has set in `inbound` so far. */
  readonly #passed = new Set<string>()
  /** Parts that the policies converted so far change. */
  readonly changes = new Set<string>()
  readonly parameters = new Set<string>()
  /** Whether the caller's subscription is read. */
  keyed = false

  /** `lost`: variables with a left-out assignment, so that their values are unknown. */
  constructor(lost: ReadonlySet<string>, checked: CheckedTokens) {
    this.#lost = lost
    this.#checked = checked
  }

  /** Records the assignments of a step, before any translation. */
  see(step: Step, section: DocumentSection): void {
    for (const name of variablesSetBy(step)) {
      const setter: Setter =
        step.kind === "set-variable"
          ? { section, value: step.value }
          : {
              kind: leftBy(step, name),
            }
      this.#setters.set(name, [...(this.#setters.get(name) ?? []), setter])
    }
  }

  /** Records a variable of a policy that can't be lowered. */
  seeName({ name, kind }: NamedVariable): void {
    this.#setters.set(name, [...(this.#setters.get(name) ?? []), { kind }])
  }

  /** Variables with names that gateway.conf does not allow, and their names there. */
  renamed(): ReadonlyMap<string, string> {
    const all = [...this.#setters.keys()].map(
      (name) => [name, unique(this.#names, name, valueName(name))] as const,
    )
    return new Map(all.filter(([name, other]) => name !== other))
  }

  /** Records that every request that continues has run these steps of `inbound`. */
  pass(steps: readonly Step[]): void {
    for (const step of steps)
      if (alwaysSetting.has(step.kind)) for (const name of variablesSetBy(step)) this.#passed.add(name)
  }

  /** What a section knows about variables and about the headers that checked tokens were read from. */
  around(section: DocumentSection): Around {
    return {
      section,
      changes: this.changes,
      nameOf: (name) => unique(this.#names, name, valueName(name)),
      unreadable: () => [...this.renamed().keys(), ...this.#lost],
      parameter: (name) => this.parameters.add(name),
      keyed: () => {
        this.keyed = true
      },
      checkedToken: (header) => {
        // After the backend, and after a failure, the header may have changed.
        const isBefore = section === "inbound" || section === "backend"
        const name = isBefore ? this.#checked.of(header) : undefined
        return name === undefined ? undefined : unique(this.#names, name, valueName(name))
      },
      variable: (name) => {
        if (!this.#setters.has(name) || this.#lost.has(name)) return undefined
        const isSet = section !== "on-error" && this.#passed.has(name)
        return { ...this.#kindOf(name), name: unique(this.#names, name, valueName(name)), isSet }
      },
    }
  }

  /** The type of a variable: that of all its setters if they agree, otherwise dynamic. */
  #kindOf(name: string): VariableKind {
    const known = this.#kinds.get(name)
    if (known !== undefined) return known
    // Needed for a variable that depends on itself.
    this.#kinds.set(name, dynamic)
    const kinds = (this.#setters.get(name) ?? []).flatMap((setter) => this.#kindOfSetter(setter) ?? [])
    const [first = dynamic, ...more] = kinds
    const nullable = kinds.some((kind) => kind.nullable)
    const made = more.every(({ kind }) => kind === first.kind) ? { kind: first.kind, nullable } : dynamic
    this.#kinds.set(name, made)
    return made
  }

  /** Undefined for an assignment without a counterpart: requests end there. */
  #kindOfSetter(setter: Setter): VariableKind | undefined {
    if ("kind" in setter)
      return { kind: setter.kind, nullable: setter.kind !== "string" && setter.kind !== "jwt" }
    const { value, section } = setter
    if (typeof value === "string" || "text" in value) return { kind: "string", nullable: false }
    const { expression } = value
    if (expression.lang !== "cs") return dynamic
    const found = (): VariableKind => {
      const { kind, nullable, whole } = toCel(expression.program, this.around(section), { inText: true })
      if (kind === "jwt" || (kind === "json" && whole === "map")) return { kind, nullable: false }
      return ["string", "bool", "int", "long"].includes(kind) ? { kind, nullable } : dynamic
    }
    return madeOr(found, () => {
      if (section === "on-error") return dynamic
      return Object.hasOwn(written, expression.type) ? written[expression.type] : undefined
    })
  }
}

/** The kind of value that a step other than `set-variable` leaves in a variable. */
function leftBy(step: Step, name: string): VariableKind["kind"] {
  if (step.kind === "send-request") return "response"
  if (step.kind === "authenticate") return step.outputAs === undefined ? "string" : "dyn"
  return step.kind === "validate-jwt" && step.output === name ? "jwt" : "dyn"
}

/** The kind that an untranslated expression will have once it is written. Requests end there until then. */
const written: Readonly<Record<string, VariableKind>> = {
  string: { kind: "string", nullable: false },
  bool: { kind: "bool", nullable: false },
  int: { kind: "int", nullable: false },
  long: { kind: "long", nullable: false },
  JObject: { kind: "json", nullable: false },
}

/** A variable that a policy names. */
interface NamedVariable {
  readonly name: string
  readonly kind: VariableKind["kind"]
}

/** The variables that a policy would set, by its attributes with literal names. */
export function variablesNamedBy({ name: policy, attributes }: Element): NamedVariable[] {
  return attributes.flatMap(({ name, raw }) => {
    const isName = policy === "set-variable" ? name === "name" : /variable(?:-name)?$/.test(name)
    const text = raw.span.file.text.slice(raw.span.start, raw.span.end)
    if (!isName || raw.kind !== "text" || !/^[\w.-]{1,100}$/.test(text)) return []
    // The output of a token may be a string or an object. Only `send-request` gives a response.
    const isResponse = name === "response-variable-name" && policy === "send-request"
    return policy === "return-response" ? [] : [{ name: text, kind: isResponse ? "response" : "dyn" }]
  })
}

/** A placeholder value until the assignment is written by hand. No request reads it. */
export function nothingYet(kind: VariableKind["kind"]): TextOrExpression {
  const constants: Readonly<Record<string, string>> = { bool: "false", int: "0", long: "0" }
  if (kind === "string") return ""
  return {
    expression: { lang: "cel", text: constants[kind] ?? "dyn(null)", type: kind === "long" ? "int" : kind },
  }
}
