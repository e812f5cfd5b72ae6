import type { TextOrExpression } from "../../../runtime/plan/step-values.ts"
import type { Step } from "../../../runtime/plan/steps.ts"
import { variablesSetBy } from "../../../runtime/plan/steps.ts"
import type { Element } from "../ast.ts"
import type { DocumentSection } from "../site.ts"
import type { CheckedTokens } from "./checked-tokens.ts"
import { toCel } from "./csharp-to-cel.ts"
import { unique, valueName } from "./names.ts"
import { type Around, madeOr, type VariableKind } from "./translation.ts"

/** What puts something into a variable: the value, or the kind of what comes from elsewhere. */
type Setter =
  | { readonly section: DocumentSection; readonly value: TextOrExpression }
  | { readonly kind: VariableKind["kind"] }

/** Steps that leave something in their variable, if only null, whenever calls go on. */
const alwaysSetting: ReadonlySet<Step["kind"]> = new Set([
  "set-variable",
  "send-request",
  "authenticate",
  "validate-jwt",
])

const dynamic: VariableKind = { kind: "dyn", nullable: true }

/** The variables of a document: how they are called in gateway.conf, and what is in them. */
export class DocumentVariables {
  readonly #setters = new Map<string, Setter[]>()
  readonly #kinds = new Map<string, VariableKind>()
  readonly #names = new Map<string, string>()
  readonly #lost: ReadonlySet<string>
  readonly #checked: CheckedTokens
  /** Variables that every call has set in `inbound` by now. */
  readonly #passed = new Set<string>()
  /** What policies that have been gone through change. */
  readonly changes = new Set<string>()
  readonly parameters = new Set<string>()
  /** The subscription of the caller is read. */
  keyed = false

  /** `lost`: variables some of whose setters are left out, so that nobody knows what is in them. */
  constructor(lost: ReadonlySet<string>, checked: CheckedTokens) {
    this.#lost = lost
    this.#checked = checked
  }

  /** A step of the document, before anything is translated. */
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

  /** A variable of a policy that can't be made into a step. */
  seeName({ name, kind }: NamedVariable): void {
    this.#setters.set(name, [...(this.#setters.get(name) ?? []), { kind }])
  }

  /** Those whose name gateway.conf can't have, and what they are called there. */
  renamed(): ReadonlyMap<string, string> {
    const all = [...this.#setters.keys()].map(
      (name) => [name, unique(this.#names, name, valueName(name))] as const,
    )
    return new Map(all.filter(([name, other]) => name !== other))
  }

  /** Steps of a policy of `inbound` itself are behind every call that goes on. */
  pass(steps: readonly Step[]): void {
    for (const step of steps)
      if (alwaysSetting.has(step.kind)) for (const name of variablesSetBy(step)) this.#passed.add(name)
  }

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
        // Behind the backend, and where a call failed, the header may be another.
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

/** What a step that is no `set-variable` leaves in a variable. */
function leftBy(step: Step, name: string): VariableKind["kind"] {
  if (step.kind === "send-request") return "response"
  if (step.kind === "authenticate") return step.outputAs === undefined ? "string" : "dyn"
  return step.kind === "validate-jwt" && step.output === name ? "jwt" : "dyn"
}

/** What an expression that has no counterpart leaves there once it is written: calls end until then. */
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

/** What a policy would set, by its attributes: names that are written out. */
export function variablesNamedBy({ name: policy, attributes }: Element): NamedVariable[] {
  return attributes.flatMap(({ name, raw }) => {
    const isName = policy === "set-variable" ? name === "name" : /variable(?:-name)?$/.test(name)
    const text = raw.span.file.text.slice(raw.span.start, raw.span.end)
    if (!isName || raw.kind !== "text" || !/^[\w.-]{1,100}$/.test(text)) return []
    // A token that is output may be text or object; it is a response only of a request.
    const isResponse = name === "response-variable-name" && policy === "send-request"
    return policy === "return-response" ? [] : [{ name: text, kind: isResponse ? "response" : "dyn" }]
  })
}

/** What stands in a variable until somebody has written what sets it: nobody gets to read it. */
export function nothingYet(kind: VariableKind["kind"]): TextOrExpression {
  const constants: Readonly<Record<string, string>> = { bool: "false", int: "0", long: "0" }
  if (kind === "string") return ""
  return {
    expression: { lang: "cel", text: constants[kind] ?? "dyn(null)", type: kind === "long" ? "int" : kind },
  }
}
