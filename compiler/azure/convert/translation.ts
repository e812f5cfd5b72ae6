import type { CsNode } from "../../../runtime/plan/csharp.ts"
import type { DocumentSection } from "../site.ts"
import { asText, binds, type Cel, cel, choice, compared, constant, joined, optional } from "./cel.ts"

/** What is known of a variable of a document: the kind of all that is ever put in, and whether that may be null. */
export interface VariableKind {
  readonly kind: Cel["kind"]
  readonly nullable: boolean
}

/** What a translation finds around the expression. */
export interface Around {
  readonly section: DocumentSection
  /** Its name in gateway.conf, what is in it, and whether every call has set it here; undefined for a variable that the document does not set, or whose `set-variable` is left out. */
  variable(name: string): (VariableKind & { readonly name: string; readonly isSet: boolean }) | undefined
  /** How a variable is called in gateway.conf. */
  nameOf(name: string): string
  /** Variables of the document that are called otherwise in gateway.conf, or not always set. */
  unreadable(): readonly string[]
  /** What the document may have changed before: `method`, `path`, `backend`. */
  readonly changes: ReadonlySet<string>
  /** The variable with the token of a header that every call has been checked for; undefined where there is none. */
  checkedToken(header: string): string | undefined
  /** The subscription of the caller is read: the route's `auth` must bring it. */
  keyed(): void
  /** A parameter of the route's path is read. */
  parameter(name: string): void
}

/** Thrown where the two languages have nothing that is exactly the same. */
export class NoCounterpart extends Error {}

/** What is made, else what stands in its place where there is no counterpart: `otherwise` is told why. */
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

/** A translation under way. */
export interface Translation {
  readonly around: Around
  readonly locals: Map<number, Cel>
  /** Variables of a program that have a name in the text, by their slots. */
  readonly names: ReadonlyMap<number, string>
  /** Variables of a program that may have no value, which nobody has read yet. */
  readonly failing: Set<number>
  /** What is another each time it is asked for, as often as the other language asks. */
  readonly fresh: Set<CsNode>
  /** What is told of it: where it has no value although the other language has one. */
  readonly notes: Set<string>
  node(node: CsNode): Cel
  /** Also a secret, or a text in any case, which few can take. */
  special(node: CsNode): Cel
  /** A text that is not null. @throws NoCounterpart */
  text(node: CsNode): Cel
}

/** @throws NoCounterpart where a value is neither true nor false. */
export function truth(value: Cel): Cel {
  return value.kind === "bool" && value.absent === undefined
    ? value
    : none("a condition that is neither true nor false")
}

/** A choice between two of one kind. @throws NoCounterpart */
export function same(test: Cel, yes: Cel, no: Cel): Cel {
  if (yes.kind !== no.kind) return none("a choice between values of two types")
  return choice(test, yes, no)
}

/** Texts one behind the other. */
export function texts(parts: readonly CsNode[], translation: Translation): Cel {
  return joined(
    parts.map((part) => {
      const found = translation.special(part)
      const made = found.secret === undefined ? translation.node(part) : found
      return asText(made) ?? dynamicText(made, translation) ?? none("a value that is not a string")
    }),
  )
}

/** What is expected of a variable of unknown type in a text: it is one. */
function dynamicText(value: Cel, { notes }: Translation): Cel | undefined {
  if (value.kind !== "dyn") return undefined
  notes.add("a variable of no known type is a text where one is wanted, else the call fails here")
  return textOfVariable(value)
}

/** A text or null in a variable; what is something else has no value. */
export function textOfVariable(value: Cel): Cel {
  const absent = compared(value, "==", constant(null))
  return optional(absent, cel(`"" + ${value.text}`, "string", { binds: binds.sum, total: false }), true)
}

/** `IUrl.Query` as people write it, without the types of arguments. */
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
