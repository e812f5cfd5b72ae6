import type { CsNode } from "../../../runtime/plan/csharp.ts"
import type { DocumentSection } from "../site.ts"
import { asText, binds, type Cel, cel, choice, compared, constant, joined, optional } from "./cel.ts"

/** The inferred type of a document variable: the kind of all values assigned to it, and whether one may be null. */
export interface VariableKind {
  readonly kind: Cel["kind"]
  readonly nullable: boolean
}

/** The context of an expression. */
export interface Around {
  readonly section: DocumentSection
  /**
   * The variable's name in gateway.conf, its kind, and whether every request has set it at this point. Undefined for a variable that the
   * document does not set, or whose `set-variable` is left out.
   */
  variable(name: string): (VariableKind & { readonly name: string; readonly isSet: boolean }) | undefined
  /** The name of a variable in gateway.conf. */
  nameOf(name: string): string
  /** Variables of the document whose name differs in gateway.conf, or that are not always set. */
  unreadable(): readonly string[]
  /** Parts that the document may have changed before: `method`, `path`, `backend`. */
  readonly changes: ReadonlySet<string>
  /** The variable with the token of a header, when every request has passed a check for it. Undefined otherwise. */
  checkedToken(header: string): string | undefined
  /** Records that the caller's subscription is read: the route needs an `auth` that provides it. */
  keyed(): void
  /** Records that a parameter of the route's path is read. */
  parameter(name: string): void
}

/** Thrown when CEL has no exact equivalent. */
export class NoCounterpart extends Error {}

/** The result of `make`, or of `otherwise` with the reason when there is no counterpart. */
export function madeOr<Made, Other>(make: () => Made, otherwise: (why: string) => Other): Made | Other {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error
    return otherwise(error.message)
  }
}

/** @throws NoCounterpart */
export function none(what: string): never {
  throw new NoCounterpart(`there is no counterpart for ${what}`)
}

/** @throws NoCounterpart with a sentence of its own. */
export function refuse(why: string): never {
  throw new NoCounterpart(why)
}

/** The state of one translation. */
export interface Translation {
  readonly around: Around
  readonly locals: Map<number, Cel>
  /** Variables of the program that have a name in the text, by slot. */
  readonly names: ReadonlyMap<number, string>
  /** Variables of the program that may have no value and were not read yet. */
  readonly failing: Set<number>
  /** Nodes that give a new value at each evaluation (`now`, `uuid()`). */
  readonly fresh: Set<CsNode>
  /** Cases in which CEL has no value although C# has one. */
  readonly notes: Set<string>
  node(node: CsNode): Cel
  /** Like `node`, but also returns secrets and texts in any case, which few uses allow. */
  special(node: CsNode): Cel
  /** A text that is not null. @throws NoCounterpart */
  text(node: CsNode): Cel
}

/** @throws NoCounterpart when the value is not a boolean */
export function truth(value: Cel): Cel {
  return value.kind === "bool" && value.absent === undefined
    ? value
    : none("a condition that is neither true nor false")
}

/** A conditional between two values of one kind. @throws NoCounterpart */
export function same(test: Cel, yes: Cel, no: Cel): Cel {
  if (yes.kind !== no.kind) return none("a choice between values of two types")
  return choice(test, yes, no)
}

/** Concatenates texts. */
export function texts(parts: readonly CsNode[], translation: Translation): Cel {
  return joined(
    parts.map((part) => {
      const found = translation.special(part)
      const made = found.secret === undefined ? translation.node(part) : found
      return asText(made) ?? dynamicText(made, translation) ?? none("a value that is not a string")
    }),
  )
}

/** A variable of unknown type inside a text must be a string. */
function dynamicText(value: Cel, { notes }: Translation): Cel | undefined {
  if (value.kind !== "dyn") return undefined
  notes.add(
    "a variable of unknown type must be a string where a string is expected, otherwise the call fails",
  )
  return textOfVariable(value)
}

/** A string or null in a variable. Other types have no value. */
export function textOfVariable(value: Cel): Cel {
  const absent = compared(value, "==", constant(null))
  return optional(absent, cel(`"" + ${value.text}`, "string", { binds: binds.sum, total: false }), true)
}

/** A readable name of a member, such as `IUrl.Query`, without the types of arguments. */
export function shortName(member: string): string {
  return member
    .replace(/\(.*$/, "")
    .replace(/<\d+>/, "")
    .replace(/\.this$/, "[…]")
}

/** `Request.Url.Path` for `context.Request.Url.Path`. */
export function pathOf(node: CsNode | undefined): string | undefined {
  if (node?.k === "context") return ""
  if (node?.k !== "call" || node.args.length > 0 || node.member.includes("(")) return undefined
  const before = pathOf(node.on)
  const name = node.member.slice(node.member.indexOf(".") + 1)
  return before === undefined ? undefined : before === "" ? name : `${before}.${name}`
}
